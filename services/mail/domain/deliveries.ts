import type { NoticeType } from '../../contracts/notice.ts';
import { matchRecipient, type Mapping } from './recipients.ts';
import { targetName, type Target } from './target.ts';

/** One hand-over of a mail: to whom, and as what. */
export interface Delivery {
  /** As {@link targetName} writes it. */
  readonly target: string;
  readonly type: NoticeType;
}

/** One for each target and type, however many recipients lead there; their order is always the same. */
export function deliveriesOf(mappings: readonly Mapping<Target>[], recipients: readonly string[]): readonly Delivery[] {
  const deliveries = recipients.flatMap((recipient) => {
    const match = matchRecipient(mappings, recipient);
    return match === undefined ? [] : match.targets.map((target) => ({ target: targetName(target), type: match.type }));
  });
  return [...new Map(deliveries.map((each) => [`${each.type} ${each.target}`, each])).values()];
}
