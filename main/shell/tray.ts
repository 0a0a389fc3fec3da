import * as m from '#messages/desktop';
import { join } from 'node:path';
import type { ElectronApi } from './electron.ts';
import { formatStatus, getTrayState, type MenuStatus, type TrayState } from '../desktop/tray-state.ts';
import { trayMenu, type MenuActions } from './menu.ts';

/** Icon in the system's tray; absent where no tray exists. */
export interface AppTray extends Disposable {
  show(status: MenuStatus): void;
}

export function openTray(
  { Tray, Menu, nativeImage, app }: Pick<ElectronApi, 'app' | 'Menu' | 'nativeImage' | 'Tray'>,
  options: { readonly images: string; readonly platform: NodeJS.Platform; readonly actions: MenuActions },
): AppTray {
  const { images, platform, actions } = options;
  const image = (state: TrayState) => nativeImage.createFromPath(join(images, imageName(state, platform)));
  const tray = new Tray(image('normal'));
  // On systems that report a click; the menu then opens with the other button.
  if (platform !== 'darwin') tray.on('click', () => actions.open('/'));
  let currentState: TrayState = 'normal';
  return {
    show(status) {
      const state = getTrayState(status);
      if (state !== currentState) tray.setImage(image(state));
      currentState = state;
      tray.setToolTip(m.toolTip({ status: formatStatus(status) }));
      tray.setContextMenu(Menu.buildFromTemplate(trayMenu(status, actions)));
      app.setBadgeCount(status.urgent);
    },
    [Symbol.dispose]: () => tray.destroy(),
  };
}

/** macOS colours its images itself; Electron finds the double size beside each. */
function imageName(state: TrayState, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return `${state}Template.png`;
  return platform === 'linux' ? `${state}-22.png` : `${state}.png`;
}
