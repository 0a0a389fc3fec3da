import { bridgeCalls, type BridgeCall, type DesktopBridge } from '../../services/contracts/control/desktop.ts';
import type { ElectronParts } from './electron.ts';
import { isOwnSender, type OwnOrigin } from './security.ts';

/**
 * Answers what our own pages ask of the desktop; a call of anyone else, and an argument that does not fit, is refused
 * before anything happens.
 */
export function openBridge(ipcMain: ElectronParts['ipcMain'], own: OwnOrigin, answers: DesktopBridge): void {
  for (const name of Object.keys(bridgeCalls) as BridgeCall[]) {
    const answer = answers[name] as (argument: unknown) => Promise<unknown>;
    ipcMain.handle(`homeport:${name}`, (event, argument: unknown) => {
      if (!isOwnSender(event.senderFrame, own)) throw new Error('This call is for the pages of Homeport.');
      const fit = bridgeCalls[name].argument.safeParse(argument);
      if (!fit.success) throw new Error(`The argument of ${name} does not fit.`);
      return answer(fit.data);
    });
  }
}
