import type { NotificationType } from '../../contracts/notify/notification.ts';
import { matchRecipient, type Match } from './recipients.ts';
import type { Rule } from './rules.ts';
import { targetName, type Target } from './target.ts';
import { parseTopicAddress, type TopicAddress, type TopicAddresses } from './topic-address.ts';

/** How the mail of a recipient is worded. */
export interface Wording {
  /** Templates; empty for the usual words. */
  readonly title: string;
  readonly body: string;
  readonly format: 'as it comes' | 'text' | 'markdown' | 'html';
}

/** An entry of the recipients: which addresses it stands for, and what becomes of their mail. */
export interface Mapping extends Wording {
  readonly address: string;
  readonly targets: readonly Target[];
}

/** One hand-over of a mail: to whom, and as what. */
export interface Delivery {
  /** As {@link targetName} writes it. */
  readonly target: string;
  readonly type: NotificationType;
  /** The recipient it came to, without its type. */
  readonly to: string;
  /** The address of the entry that fitted; its wording is looked up when the mail is handed over. */
  readonly entry: string;
  /** As a rule set it. */
  readonly priority?: number | undefined;
}

function redirected(targets: readonly Target[], rule: Rule | undefined): readonly Target[] {
  if (rule === undefined) return targets;
  const chosen = rule.targets.length > 0 ? rule.targets : targets;
  const { tag } = rule;
  if (tag === undefined) return chosen;
  return chosen.map((target) => (target.kind === 'notify' ? { ...target, tag } : target));
}

/** The entry of mail to a topic's own address. No address of the settings has a space. */
export const topicEntry = 'topic address';

function topicMatch({ topic, address }: TopicAddress): Match<Pick<Mapping, 'address' | 'targets'>> {
  return { mapping: { address: topicEntry, targets: [{ kind: 'push', topic }] }, type: 'info', to: address };
}

/** One for each target and type, however many recipients lead there; their order is always the same. */
export function deliveriesOf(
  { mappings, topics }: { readonly mappings: readonly Mapping[]; readonly topics: TopicAddresses },
  recipients: readonly string[],
  rule?: Rule,
): readonly Delivery[] {
  const deliveries = recipients.flatMap((recipient): readonly Delivery[] => {
    const topic = parseTopicAddress(recipient, topics);
    const match = topic === undefined ? matchRecipient(mappings, recipient) : topicMatch(topic);
    if (match === undefined) return [];
    const { mapping, to } = match;
    return redirected(mapping.targets, rule).map((target) => ({
      target: targetName(target),
      type: rule?.type ?? match.type,
      to,
      entry: mapping.address,
      ...(rule?.priority === undefined ? {} : { priority: rule.priority }),
    }));
  });
  // The first one counts: the same words twice in one place help nobody.
  const first = new Map<string, Delivery>();
  for (const each of deliveries) {
    const name = `${each.type} ${each.target}`;
    if (!first.has(name)) first.set(name, each);
  }
  return [...first.values()];
}
