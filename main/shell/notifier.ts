import { escapeMarkup } from '../host/desktop/markup.ts';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import type { ElectronApi } from './electron.ts';

/** Maximum number of popups with click listeners; the oldest one is closed. */
const maxShown = 50;

/** Shows popups by Electron's own notifications: click and close everywhere, buttons where the system supports them. */
export function electronNotifier(Notification: ElectronApi['Notification'], platform: NodeJS.Platform): Notifier {
  // Without a reference the garbage collector removes a notification with its click listener.
  const visible = new Map<string, { close(): void }>();

  return {
    name: 'electron',
    show(popup, listener) {
      if (!Notification.isSupported()) return listener({ failed: 'this desktop shows no notifications' });
      const { id, urgency } = popup;
      visible.get(id)?.close();
      const notification = new Notification({
        title: popup.title,
        // Popup servers on Linux parse the body as markup.
        body: platform === 'linux' ? escapeMarkup(popup.body) : popup.body,
        silent: popup.silent,
        urgency,
        timeoutType: urgency === 'critical' ? 'never' : 'default',
        groupId: popup.group,
        groupTitle: popup.group,
        actions: popup.actions.map(({ label }) => ({ type: 'button', text: label })),
      });
      const end = (): void => {
        if (visible.get(id) === notification) visible.delete(id);
      };
      notification.on('show', () => listener('shown'));
      notification.on('click', () => listener('clicked'));
      notification.on('action', (_, index) => {
        const action = popup.actions[index];
        if (action !== undefined) listener({ action: action.id });
      });
      notification.on('close', () => {
        end();
        listener('closed');
      });
      notification.on('failed', (_, error) => {
        end();
        listener({ failed: error });
      });
      visible.set(id, notification);
      const [oldest] = visible.values();
      if (visible.size > maxShown) oldest?.close();
      notification.show();
    },
    async [Symbol.asyncDispose]() {
      for (const notification of [...visible.values()]) notification.close();
      visible.clear();
    },
  };
}
