import type { Question } from '../desktop/closing.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { Notifier, Popup } from '../../services/contracts/popups/desktop.ts';
import type { ElectronParts } from './electron.ts';

/** What the shell itself asks and tells. */

/** Asks what closing the window means; a box that is closed is an answer as the last button is. */
export function askClosing(
  dialog: Pick<ElectronParts['dialog'], 'showMessageBox'>,
): (question: Question) => Promise<{ readonly button: number; readonly remember: boolean }> {
  return async ({ message, detail, buttons, remember }) => {
    const { response, checkboxChecked } = await dialog.showMessageBox({
      ...{ type: 'question', title: 'Homeport', message, detail, buttons: [...buttons] },
      ...{ defaultId: 0, cancelId: buttons.length - 1, checkboxLabel: remember, noLink: true },
    });
    return { button: response, remember: checkboxChecked };
  };
}

/** The page's process ends again and again: once more, or elsewhere. */
export async function askFailing(
  { dialog, shell }: Pick<ElectronParts, 'dialog' | 'shell'>,
  page: string | undefined,
  retry: () => void,
): Promise<void> {
  const buttons = ['Try again', ...(page === undefined ? [] : ['Open in the browser'])];
  const { response } = await dialog.showMessageBox({
    ...{ type: 'error', title: 'Homeport', message: 'The window cannot show Homeport', buttons },
    detail:
      'What draws it has ended several times within a minute. The services go on; they can be seen in a browser as well.',
    ...{ defaultId: 0, cancelId: 0, noLink: true },
  });
  if (response === 1 && page !== undefined) await shell.openExternal(page);
  else retry();
}

/** Says once where the app has gone when its window closes. */
export function tellTray(inTray: boolean, preferences: Preferences, notifier: Pick<Notifier, 'show'>): void {
  if (!inTray || preferences.get('explainedTray')) return;
  preferences.set('explainedTray', true);
  tell(notifier, {
    ...{ id: 'desktop-tray', title: 'Homeport goes on in the tray', urgency: 'low', silent: true },
    body: 'Its services keep running. Quit it from the menu of its icon.',
  });
}

/** Says that the services ended though nobody asked them to. */
export function tellLoss(notifier: Pick<Notifier, 'show'>): void {
  tell(notifier, {
    ...{ id: 'desktop-host', title: 'Homeport’s services stopped', urgency: 'normal', silent: false },
    body: 'They ended by themselves and are started again. The log says more.',
  });
}

function tell(notifier: Pick<Notifier, 'show'>, popup: Omit<Popup, 'actions' | 'group'>): void {
  notifier.show({ ...popup, actions: [], group: 'homeport' }, () => undefined);
}
