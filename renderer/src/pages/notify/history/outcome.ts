import type { NotifyHistoryEntry } from '../../../../../services/contracts/notify/history.ts';
import type { IconName } from '../../../icons/icons.ts';

/** Summarizes the results of a notification at all destinations. */
export function summarizeOutcome({ deliveries }: NotifyHistoryEntry): {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad';
  readonly icon?: IconName;
} {
  const count = (state: string): number => deliveries.filter((each) => each.state === state).length;
  const [dead, waiting, total] = [count('dead'), count('waiting'), deliveries.length];
  if (dead > 0)
    return {
      label: dead === total ? 'Failed' : `${String(dead)} of ${String(total)} failed`,
      tone: 'bad',
      icon: 'alert',
    };
  if (waiting > 0)
    return { label: waiting === total ? 'Waiting' : `${String(waiting)} waiting`, tone: 'warn', icon: 'clock' };
  return { label: 'Delivered', tone: 'ok' };
}

/** Formats the result of sending a notification again. */
export function formatSentAgain({ destinations, filesGone }: { destinations: number; filesGone: number }): string {
  const targets = destinations === 1 ? 'one destination' : `${String(destinations)} destinations`;
  if (filesGone === 0) return `Sent once more to ${targets}.`;
  const files = filesGone === 1 ? 'one of its files' : `${String(filesGone)} of its files`;
  return `Sent once more to ${targets}, without ${files}: only the newest are kept.`;
}
