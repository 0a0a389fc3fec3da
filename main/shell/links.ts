import { findLink, findLinkedPage } from '../desktop/deep-links.ts';
import type { ElectronApi } from './electron.ts';

/** Window that links open. */
export interface LinkTarget {
  /** Opens a path of the app in the window. */
  readonly open: (path: string) => void;
  /** Brings the window to the front unchanged. */
  readonly bringBack: () => void;
}

/** Opens the links of other programs and the window of a second start. */
export function followLinks(app: ElectronApi['app'], { open, bringBack }: LinkTarget): void {
  app.on('second-instance', (_, argv) => {
    const link = findLinkedPage(findLink(argv) ?? '');
    if (link === undefined) bringBack();
    else open(link);
  });
  app.on('open-url', (event, link) => {
    event.preventDefault();
    const linked = findLinkedPage(link);
    if (linked !== undefined) open(linked);
  });
  app.on('activate', bringBack);
  // From source, the system would start Electron without the path of the app.
  if (app.isPackaged) app.setAsDefaultProtocolClient('homeport');
}
