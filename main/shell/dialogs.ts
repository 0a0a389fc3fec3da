import * as m from '#messages/desktop';
import type { Question } from '../desktop/closing.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { Notifier, Popup } from '../../services/contracts/popups/desktop.ts';
import type { ElectronApi } from './electron.ts';

/** Dialogs and messages of the shell itself. */

/** Asks for the effect of closing the window; closing the dialog selects the last button. */
export function showCloseDialog(
  dialog: Pick<ElectronApi['dialog'], 'showMessageBox'>,
): (question: Question) => Promise<{ readonly button: number; readonly remember: boolean }> {
  return async ({ message, detail, buttons, remember }) => {
    const { response, checkboxChecked } = await dialog.showMessageBox({
      type: 'question',
      title: 'Homeport',
      message,
      detail,
      buttons: [...buttons],
      defaultId: 0,
      cancelId: buttons.length - 1,
      checkboxLabel: remember,
      noLink: true,
    });
    return { button: response, remember: checkboxChecked };
  };
}

/**
 * Offers to move an app that was started from its disk image or another folder: updates and the start at login work only
 * from the Applications folder. Returns whether the app was moved and starts again from there.
 */
export async function offerMove(
  { app, dialog }: Pick<ElectronApi, 'app' | 'dialog'>,
  platform: NodeJS.Platform,
  preferences: Preferences,
): Promise<boolean> {
  if (platform !== 'darwin' || !app.isPackaged || preferences.get('staysInFolder') || app.isInApplicationsFolder()) {
    return false;
  }
  const { response, checkboxChecked } = await dialog.showMessageBox({
    type: 'question',
    title: 'Homeport',
    message: m.moveQuestion(),
    detail: m.moveDetail(),
    buttons: [m.move(), m.notNow()],
    defaultId: 0,
    cancelId: 1,
    checkboxLabel: m.doNotAskAgain(),
  });
  if (response !== 0) {
    if (checkboxChecked) preferences.set('staysInFolder', true);
    return false;
  }
  try {
    return app.moveToApplicationsFolder();
  } catch (error) {
    // For example, the disk is full. The app continues where it is.
    dialog.showErrorBox(m.moveFailed(), error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Shown when the page's process crashes repeatedly: retry, or open in the browser. */
export async function showFailureDialog(
  { dialog, shell }: Pick<ElectronApi, 'dialog' | 'shell'>,
  page: string | undefined,
  retry: () => void,
): Promise<void> {
  const buttons = [m.retry(), ...(page === undefined ? [] : [m.openInBrowser()])];
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'Homeport',
    message: m.windowFailed(),
    buttons,
    detail: m.windowFailedDetail(),
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  });
  if (response === 1 && page !== undefined) await shell.openExternal(page);
  else retry();
}

/** Explains once that the app remains in the tray when its window closes. */
export function showTrayHint(inTray: boolean, preferences: Preferences, notifier: Pick<Notifier, 'show'>): void {
  if (!inTray || preferences.get('explainedTray')) return;
  preferences.set('explainedTray', true);
  showMessage(notifier, {
    id: 'desktop-tray',
    title: m.trayHint(),
    urgency: 'low',
    silent: true,
    body: m.trayHintText(),
  });
}

/** Reports an unexpected end of the services. */
export function showDataLossWarning(notifier: Pick<Notifier, 'show'>): void {
  showMessage(notifier, {
    id: 'desktop-host',
    title: m.servicesStopped(),
    urgency: 'normal',
    silent: false,
    body: m.servicesStoppedText(),
  });
}

function showMessage(notifier: Pick<Notifier, 'show'>, popup: Omit<Popup, 'actions' | 'group'>): void {
  notifier.show({ ...popup, actions: [], group: 'homeport' }, () => undefined);
}
