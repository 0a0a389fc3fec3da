import type { NotifyHistoryEntry } from '../../../../services/contracts/notify/history.ts';
import type { IconName } from '../../parts/text/icons.ts';

/** How a notice stands over all its destinations, in a word and with what it looks like. */
export function outcomeOf({ deliveries }: NotifyHistoryEntry): {
  readonly words: string;
  readonly tone: 'ok' | 'warn' | 'bad';
  readonly sign?: IconName;
} {
  const count = (state: string): number => deliveries.filter((each) => each.state === state).length;
  const [dead, waiting, all] = [count('dead'), count('waiting'), deliveries.length];
  if (dead > 0)
    return { words: dead === all ? 'Failed' : `${String(dead)} of ${String(all)} failed`, tone: 'bad', sign: 'alert' };
  if (waiting > 0)
    return { words: waiting === all ? 'Waiting' : `${String(waiting)} waiting`, tone: 'warn', sign: 'clock' };
  return { words: 'Delivered', tone: 'ok' };
}

/** What became of sending a notice again. */
export function sentAgain({ destinations, filesGone }: { destinations: number; filesGone: number }): string {
  const where = destinations === 1 ? 'one destination' : `${String(destinations)} destinations`;
  if (filesGone === 0) return `Sent once more to ${where}.`;
  const files = filesGone === 1 ? 'one of its files' : `${String(filesGone)} of its files`;
  return `Sent once more to ${where}, without ${files}: only the newest are kept.`;
}
