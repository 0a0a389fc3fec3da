import { bridgeCalls, type BridgeCall, type DesktopBridge } from '../../services/contracts/control/desktop.ts';
import type { ElectronApi } from './electron.ts';
import { isOwnSender, type OwnOrigin } from './security.ts';

/** Answers calls of the app's pages to the desktop; calls of other senders, and invalid arguments, are refused. */
export function openBridge(ipcMain: ElectronApi['ipcMain'], own: OwnOrigin, answers: DesktopBridge): void {
  for (const name of Object.keys(bridgeCalls) as BridgeCall[]) {
    const answer = answers[name] as (argument: unknown) => Promise<unknown>;
    ipcMain.handle(`homeport:${name}`, (event, argument: unknown) => {
      if (!isOwnSender(event.senderFrame, own)) throw new Error('This call is for the pages of Homeport.');
      const parsed = bridgeCalls[name].argument.safeParse(argument);
      if (!parsed.success) throw new Error(`The argument of ${name} is not valid.`);
      return answer(parsed.data);
    });
  }
}
