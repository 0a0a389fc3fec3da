import type { DesktopBridge } from '../../../services/contracts/control/desktop.ts';

/** Functions that the desktop app provides to its own window; undefined in a browser. */
export const bridge: DesktopBridge | undefined =
  'bridge' in window ? (window as Window & { readonly bridge?: DesktopBridge }).bridge : undefined;
