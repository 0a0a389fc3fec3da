import type { Session, WebFrameMain, WebPreferences } from 'electron';
import type { ElectronContents, ElectronApi } from './electron.ts';

/** Security rules for pages in the window. The content security policy comes with the pages, from the host. */

/** Permissions of pages: showing notifications, and copying text. */
const permitted: readonly string[] = ['notifications', 'clipboard-sanitized-write'];

/**
 * Schemes that may be opened outside of the app: those of browsers and mail programs. Never files, shares, or custom
 * schemes.
 */
const outside: readonly string[] = ['https:', 'http:', 'mailto:'];

/** Returns the current origin of the app's own pages; undefined while they are not served. */
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

/** Returns whether an address is one of the app's own pages. */
export function isOwnUrl(address: string, own: OwnOrigin): boolean {
  const origin = own();
  return origin !== undefined && URL.parse(address)?.origin === origin;
}

/** Opens an address in the system's default program; ignores other schemes than those of browsers and mail programs. */
export function openOutside(address: string, shell: ElectronApi['shell'], failed: (error: unknown) => void): void {
  const url = URL.parse(address);
  if (url !== null && outside.includes(url.protocol)) shell.openExternal(url.href).catch(failed);
}

/** Applies the rules to every page of the app, including those that other pages open. */
export function guardContents(
  { app, shell }: Pick<ElectronApi, 'app' | 'shell'>,
  own: OwnOrigin,
  failed: (error: unknown) => void,
): void {
  app.on('web-contents-created', (_, contents) => guardPage(contents, shell, own, failed));
}

function guardPage(
  contents: ElectronContents,
  shell: ElectronApi['shell'],
  own: OwnOrigin,
  failed: (error: unknown) => void,
): void {
  contents.on('will-navigate', (event) => {
    if (!isOwnUrl(event.url, own)) event.preventDefault();
  });
  contents.on('will-redirect', (event) => {
    if (!isOwnUrl(event.url, own)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url, shell, failed);
    return { action: 'deny' };
  });
}

/** Refuses all permissions except those listed above. */
export function guardPermissions(
  session: Pick<Session, 'setPermissionCheckHandler' | 'setPermissionRequestHandler'>,
  own: OwnOrigin,
): void {
  session.setPermissionRequestHandler((_, permission, answer, { requestingUrl }) => {
    answer(permitted.includes(permission) && isOwnUrl(requestingUrl, own));
  });
  session.setPermissionCheckHandler((_, permission, origin) => permitted.includes(permission) && isOwnUrl(origin, own));
}

/** Returns whether a call comes from one of the app's pages: from the page itself, not from a frame within it. */
export function isOwnSender(frame: Pick<WebFrameMain, 'parent' | 'url'> | null, own: OwnOrigin): boolean {
  return frame !== null && frame.parent === null && isOwnUrl(frame.url, own);
}
