import type { Session, WebFrameMain, WebPreferences } from 'electron';
import type { ElectronContents, ElectronParts } from './electron.ts';

/** Every rule that keeps a page inside the window in its place. The content security policy comes with the pages, from the host. */

/** What a page may ask of the system: to show messages, and to copy text. */
const permitted: readonly string[] = ['notifications', 'clipboard-sanitized-write'];

/** Kinds of address that may leave the app: what browsers and mail programs open. Never files, shares, or programs' own schemes. */
const outside: readonly string[] = ['https:', 'http:', 'mailto:'];

/** Origin of the app's own pages as it is now; undefined while they are not served. */
export type OwnOrigin = () => string | undefined;

export function webPreferences(preload: string): WebPreferences {
  return {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webviewTag: false,
    spellcheck: true,
  };
}

/** Whether an address is one of the app's own pages. */
export function isOwn(address: string, own: OwnOrigin): boolean {
  const origin = own();
  return origin !== undefined && URL.parse(address)?.origin === origin;
}

/** Opens an address in the program that the system has for it; leaves alone whatever is not for a browser or a mail program. */
export function openOutside(address: string, shell: ElectronParts['shell'], failed: (error: unknown) => void): void {
  const url = URL.parse(address);
  if (url !== null && outside.includes(url.protocol)) shell.openExternal(url.href).catch(failed);
}

/** Holds every page of the app to its rules, also those that other pages open. */
export function guardContents(
  { app, shell }: Pick<ElectronParts, 'app' | 'shell'>,
  own: OwnOrigin,
  failed: (error: unknown) => void,
): void {
  app.on('web-contents-created', (_, contents) => guardPage(contents, shell, own, failed));
}

function guardPage(
  contents: ElectronContents,
  shell: ElectronParts['shell'],
  own: OwnOrigin,
  failed: (error: unknown) => void,
): void {
  contents.on('will-navigate', (event) => {
    if (!isOwn(event.url, own)) event.preventDefault();
  });
  contents.on('will-redirect', (event) => {
    if (!isOwn(event.url, own)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url, shell, failed);
    return { action: 'deny' };
  });
}

/** Refuses whatever a page asks of the system beyond the two things it may. */
export function guardPermissions(
  session: Pick<Session, 'setPermissionCheckHandler' | 'setPermissionRequestHandler'>,
  own: OwnOrigin,
): void {
  session.setPermissionRequestHandler((_, permission, answer, { requestingUrl }) => {
    answer(permitted.includes(permission) && isOwn(requestingUrl, own));
  });
  session.setPermissionCheckHandler((_, permission, origin) => permitted.includes(permission) && isOwn(origin, own));
}

/** Whether a call comes from one of our own pages: from the page itself, not from a frame within it. */
export function isOwnSender(frame: Pick<WebFrameMain, 'parent' | 'url'> | null, own: OwnOrigin): boolean {
  return frame !== null && frame.parent === null && isOwn(frame.url, own);
}
