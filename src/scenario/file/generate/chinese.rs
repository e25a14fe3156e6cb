//! Chinese words, for comments, messages and paragraphs: their tokens by character differ from English ones.

use super::Random;

const NOUNS: [&str; 24] = [
    "订单", "运单", "发票", "仓库", "包裹", "退款", "客户", "地址", "标签", "队列", "库存", "合同", "班次", "路线", "司机", "报表", "预算",
    "模板", "通知", "账户", "税率", "货架", "批次", "附件",
];
const VERBS: [&str; 16] =
    ["读取", "合并", "拆分", "校验", "发送", "保存", "计算", "分配", "汇总", "重试", "归档", "更新", "排序", "过滤", "锁定", "释放"];
const ADJECTIVES: [&str; 12] =
    ["有效的", "过期的", "完整的", "重复的", "缺失的", "待处理的", "已确认的", "临时的", "只读的", "最新的", "旧的", "公开的"];

/// A sentence without meaning.
pub(super) fn sentence(random: &mut Random) -> String {
    let (subject, object) = (random.pick(&NOUNS), random.pick(&NOUNS));
    let (verb, other, quality) = (random.pick(&VERBS), random.pick(&VERBS), random.pick(&ADJECTIVES));
    match random.below(5) {
        0 => format!("收到{subject}之后，先{verb}{quality}{object}，再继续处理。"),
        1 => format!("每个{subject}只{verb}一次，结果写入{object}。"),
        2 => format!("如果{subject}不是{quality}，就不能{verb}{object}，也不必{other}。"),
        3 => format!("{verb}{quality}{subject}大约需要 {} 毫秒，不影响{object}。", 2 + random.below(900)),
        _ => format!("{subject}与{object}分开保存，以后可以单独{verb}或者{other}。"),
    }
}

/// What a log says.
pub(super) fn message(random: &mut Random) -> String {
    let (noun, verb) = (random.pick(&NOUNS), random.pick(&VERBS));
    match random.below(3) {
        0 => format!("{verb}{noun}完成 id={:08x} 耗时={}ms", random.below(1 << 32), random.below(700)),
        1 => format!("无法{verb}{noun}：{}不存在，第 {} 次重试", random.pick(&NOUNS), 1 + random.below(4)),
        _ => format!("{noun}等待 {} 条，最早 {} 秒前", random.below(400), random.below(90)),
    }
}

/// Some sentences.
pub(super) fn paragraph(random: &mut Random) -> String {
    let sentences: String = (0..3 + random.below(4)).map(|_| sentence(random)).collect();
    sentences + "\n\n"
}
