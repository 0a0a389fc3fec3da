import { bridge } from '../state/bridge.ts';

/** Also named in `renderer/public/offline-shell.js`. */
const cacheName = 'homeport-shell';
const workerFile = '/service-worker.js';

/**
 * Stores the files that show the pages, so that the service worker can open them without a network. Data of accounts
 * is not stored. Does nothing in the desktop app, which runs with its host, and where browsers offer no service
 * worker: over plain HTTP from another computer.
 */
export async function storeOfflineShell(): Promise<void> {
  if (bridge !== undefined || !window.isSecureContext || !('serviceWorker' in navigator && 'caches' in window)) return;
  try {
    await navigator.serviceWorker.register(workerFile);
    await storeFiles();
  } catch {
    // The browser refuses storage, or the certificate is not trusted: the pages work, but only with a network.
  }
}

async function storeFiles(): Promise<void> {
  const response = await fetch('/');
  const html = await response.clone().text();
  // After an update of the host, the files of its pages are stored when the page is loaded again.
  if (!response.ok || !isSameBuild(html)) return;
  const cache = await caches.open(cacheName);
  const loaded = listLoadedFiles();
  const stored = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  await cache.addAll([...loaded].filter((path) => !path.startsWith('/assets/') || !stored.has(path)));
  await cache.put('/', response);
  if (!isBuildStored(stored)) await removeOtherFiles(cache, loaded);
}

/** True when the page was loaded from this HTML. */
function isSameBuild(html: string): boolean {
  const script = findMainScript();
  return script !== null && html.includes(script);
}

/** True when the stored files are those of this build: files of other pages that were opened before are kept then. */
function isBuildStored(stored: ReadonlySet<string>): boolean {
  const script = findMainScript();
  return script !== null && stored.has(script);
}

function findMainScript(): string | null {
  return document.querySelector('script[type="module"][src^="/assets/"]')?.getAttribute('src') ?? null;
}

/** Lists the paths of the scripts, styles and fonts that this page has loaded. */
function listLoadedFiles(): ReadonlySet<string> {
  const entries = performance.getEntriesByType('resource').map(({ name }) => new URL(name));
  const assets = entries.filter(
    ({ origin, pathname }) => origin === location.origin && pathname.startsWith('/assets/'),
  );
  const script = findMainScript();
  return new Set([
    '/theme.js',
    '/mark.svg',
    ...(script === null ? [] : [script]),
    ...assets.map(({ pathname }) => pathname),
  ]);
}

async function removeOtherFiles(cache: Cache, loaded: ReadonlySet<string>): Promise<void> {
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (pathname !== '/' && !loaded.has(pathname)) await cache.delete(request);
  }
}
