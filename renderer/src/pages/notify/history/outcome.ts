import * as m from '#messages/notify';
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
      label: dead === total ? m.notificationFailed() : m.someFailed({ failed: dead, total }),
      tone: 'bad',
      icon: 'alert',
    };
  if (waiting > 0)
    return {
      label: waiting === total ? m.notificationWaiting() : m.someWaiting({ count: waiting }),
      tone: 'warn',
      icon: 'clock',
    };
  return { label: m.notificationDelivered(), tone: 'ok' };
}

/** Formats the result of sending a notification again. */
export function formatSentAgain({ destinations, filesGone }: { destinations: number; filesGone: number }): string {
  return filesGone === 0
    ? m.sentAgain({ count: destinations })
    : m.sentAgainWithoutFiles({ count: destinations, files: filesGone });
}
