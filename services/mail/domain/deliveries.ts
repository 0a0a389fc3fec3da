import type { NotificationType } from '../../contracts/notify/notification.ts';
import { matchRecipient, type Match } from './recipients.ts';
import type { Rule } from './rules.ts';
import { formatTarget, type Target } from './target.ts';
import { parseTopicAddress, type TopicAddress, type TopicAddressOptions } from './topic-address.ts';

/** Templates and format for mail of a recipient. */
export interface MailTemplates {
  /** Templates; empty for the default. */
  readonly title: string;
  readonly body: string;
  readonly format: 'as it comes' | 'text' | 'markdown' | 'html';
}

/** Recipient entry: its address pattern and the targets of its mail. */
export interface Mapping extends MailTemplates {
  readonly address: string;
  readonly targets: readonly Target[];
}

/** Delivery of a mail to one target with one type. */
export interface Delivery {
  /** As returned by {@link formatTarget}. */
  readonly target: string;
  readonly type: NotificationType;
  /** Recipient address without its type. */
  readonly to: string;
  /** Address of the matching entry, whose templates are looked up on delivery. */
  readonly entry: string;
  /** Priority set by a rule. */
  readonly priority?: number | undefined;
  /** Code of the last failed attempt, if it has one: see `delivery-failure.ts`. */
  readonly failure?: string | undefined;
}

function applyRule(targets: readonly Target[], rule: Rule | undefined): readonly Target[] {
  if (rule === undefined) return targets;
  const selected = rule.targets.length > 0 ? rule.targets : targets;
  const { tag } = rule;
  if (tag === undefined) return selected;
  return selected.map((target) => (target.kind === 'notify' ? { ...target, tag } : target));
}

/** Entry of mail to topic addresses. Addresses of the settings contain no spaces. */
export const topicEntry = 'topic address';

function toTopicMatch({ topic, address }: TopicAddress): Match<Pick<Mapping, 'address' | 'targets'>> {
  return { mapping: { address: topicEntry, targets: [{ kind: 'push', topic }] }, type: 'info', to: address };
}

/** Returns one delivery per target and type, regardless of the number of matching recipients, in a stable order. */
export function buildDeliveries(
  { mappings, topics }: { readonly mappings: readonly Mapping[]; readonly topics: TopicAddressOptions },
  recipients: readonly string[],
  rule?: Rule,
): readonly Delivery[] {
  const deliveries = recipients.flatMap((recipient): readonly Delivery[] => {
    const topic = parseTopicAddress(recipient, topics);
    const match = topic === undefined ? matchRecipient(mappings, recipient) : toTopicMatch(topic);
    if (match === undefined) return [];
    const { mapping, to } = match;
    return applyRule(mapping.targets, rule).map((target) => ({
      target: formatTarget(target),
      type: rule?.type ?? match.type,
      to,
      entry: mapping.address,
      ...(rule?.priority === undefined ? {} : { priority: rule.priority }),
    }));
  });
  // Keeps the first of identical deliveries.
  const first = new Map<string, Delivery>();
  for (const delivery of deliveries) {
    const name = `${delivery.type} ${delivery.target}`;
    if (!first.has(name)) first.set(name, delivery);
  }
  return [...first.values()];
}
