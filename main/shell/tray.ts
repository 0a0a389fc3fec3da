import { join } from 'node:path';
import type { ElectronParts } from './electron.ts';
import { statusLine, trayState, type MenuStatus, type TrayState } from '../desktop/tray-state.ts';
import { trayMenu, type MenuActions } from './menu.ts';

/** The icon in the system's tray; absent where nobody shows one. */
export interface AppTray extends Disposable {
  show(status: MenuStatus): void;
}

export function openTray(
  { Tray, Menu, nativeImage, app }: Pick<ElectronParts, 'app' | 'Menu' | 'nativeImage' | 'Tray'>,
  options: { readonly images: string; readonly platform: NodeJS.Platform; readonly actions: MenuActions },
): AppTray {
  const { images, platform, actions } = options;
  const image = (state: TrayState) => nativeImage.createFromPath(join(images, imageName(state, platform)));
  const tray = new Tray(image('normal'));
  // Where a desktop tells of a click at all; the menu opens there by the other button.
  if (platform !== 'darwin') tray.on('click', () => actions.open('/'));
  let shown: TrayState = 'normal';
  return {
    show(status) {
      const state = trayState(status);
      if (state !== shown) tray.setImage(image(state));
      shown = state;
      tray.setToolTip(`Homeport: ${statusLine(status)}`);
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
