// Opens the pages while Homeport cannot be reached, from the copies that the pages themselves store (see
// renderer/src/frame/offline-shell.ts). Answers of the API are never stored, so that no account sees data of another.

const shellCache = 'homeport-shell';
/** Time in ms after which a page is opened from the copy. Addresses of another network often do not answer at all. */
const navigationTimeoutMs = 5000;

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return;
  // Pages of the gateway, such as the sign-in at a provider.
  if (pathname.startsWith('/.homeport/')) return;
  if (request.mode === 'navigate') event.respondWith(openShell(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(findStored(request));
  else if (['/theme.js', '/mark.svg'].includes(pathname)) event.respondWith(fetchOrFindStored(request));
});

async function openShell(request) {
  const shell = await caches.match('/', { cacheName: shellCache });
  if (shell === undefined) return fetch(request);
  const timeout = new Promise((resolve) => setTimeout(() => resolve(shell), navigationTimeoutMs));
  return Promise.race([fetch(request).catch(() => shell), timeout]);
}

/** Names of these files contain a hash of their content, so that a copy is never out of date. */
async function findStored(request) {
  return (await caches.match(request.url, { cacheName: shellCache })) ?? fetch(request);
}

async function fetchOrFindStored(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const stored = await caches.match(request.url, { cacheName: shellCache });
    if (stored === undefined) throw error;
    return stored;
  }
}
