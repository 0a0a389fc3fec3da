import type { Notifier, PopupEvent } from '../../services/contracts/popups/desktop.ts';
import type { TicketedPopup } from './host-line.ts';

/** Maximum number of popups with pending events, since some systems never report the end. */
const maxListeners = 200;

/** Creates a notifier whose popups another process shows: each has a ticket, under which `told` receives its events. */
export function remoteNotifier(other: { show(popup: TicketedPopup): void; close(): void }): {
  readonly notifier: Notifier;
  readonly handleEvent: (ticket: number, event: PopupEvent) => void;
} {
  const listeners = new Map<number, (event: PopupEvent) => void>();
  let tickets = 0;
  return {
    notifier: {
      name: 'electron',
      show(popup, listener) {
        tickets += 1;
        listeners.set(tickets, listener);
        const [oldest] = listeners.keys();
        if (listeners.size > maxListeners && oldest !== undefined) listeners.delete(oldest);
        other.show({ ticket: tickets, popup });
      },
      async [Symbol.asyncDispose]() {
        listeners.clear();
        other.close();
      },
    },
    handleEvent(ticket, event) {
      const listener = listeners.get(ticket);
      if (event === 'closed' || (typeof event === 'object' && 'failed' in event)) listeners.delete(ticket);
      listener?.(event);
    },
  };
}
