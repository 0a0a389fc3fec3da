// Shows messages of the push server while no page is open. A plain file at the root, so that its scope is every page.

const icon = '/icons/192.png';
const badge = '/icons/badge-96.png';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  // The number of unread messages is unknown here; open pages show it.
  self.navigator.setAppBadge?.().catch(() => undefined);
  event.waitUntil(handle(read(event.data)));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { click, topic, links = {}, acknowledge: id } = event.notification.data ?? {};
  const address = links[event.action] ?? click ?? (topic ? `/push/topics/${topic}` : '/push');
  event.waitUntil(Promise.all([id ? acknowledge(id) : undefined, openPage(address)]));
});

function read(data) {
  try {
    return data?.json();
  } catch {
    // Browsers withdraw the permission of a worker that shows nothing, so that what is unreadable is shown as news all the same.
    return undefined;
  }
}

async function handle(payload) {
  const message = payload?.message;
  if (payload?.event === 'subscription_expiring') {
    await show('Notifications will stop soon', { body: 'Open Homeport in this browser to keep them.' });
  } else if (payload?.event !== 'message' || typeof message?.topic !== 'string') {
    await show('New message', { body: 'Open Homeport to read it.' });
  } else if (message.event === 'message_clear' || message.event === 'message_delete') {
    for (const shown of await self.registration.getNotifications({ tag: tagOf(message) })) shown.close();
  } else {
    await show(message.title || payload.displayName || message.topic, optionsOf(message, payload));
  }
}

/** Builds the options of a popup. `beside` contains `silent`, `displayName` (of the topic), `digest` (several topics) and `acknowledge`, which ends repetition. */
function optionsOf(message, beside) {
  const priority = message.priority ?? 3;
  const silent = beside.silent === true || priority <= 2;
  const actions = (message.actions ?? [])
    .filter(({ action, url }) => action === 'view' && isWebAddress(url))
    .slice(0, 2);
  return {
    body: message.encoding === 'base64' ? '' : (message.message ?? ''),
    tag: tagOf(message),
    renotify: !silent,
    silent,
    requireInteraction: priority >= 5 && !silent,
    timestamp: message.time * 1000,
    actions: actions.map(({ id, label }) => ({ action: id, title: label })),
    data: {
      ...(beside.digest === true ? {} : { topic: message.topic }),
      ...(typeof beside.acknowledge === 'string' ? { acknowledge: beside.acknowledge } : {}),
      ...(isWebAddress(message.click) ? { click: message.click } : {}),
      links: Object.fromEntries(actions.map(({ id, url }) => [id, url])),
    },
  };
}

/** A later message of the same sequence takes the place of the earlier one. */
function tagOf({ topic, sequence_id, id }) {
  return `${topic} ${sequence_id ?? id}`;
}

function isWebAddress(text) {
  return typeof text === 'string' && /^https?:\/\//i.test(text) && URL.canParse(text);
}

function show(title, options) {
  return self.registration.showNotification(title, { icon, badge, ...options });
}

/** The id is the proof: the page may have been closed for longer than a session lasts. */
async function acknowledge(id) {
  try {
    await fetch('/api/push/acknowledge', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id }),
    });
  } catch (error) {
    // It comes again and can be clicked again.
    console.warn('the message could not be acknowledged', error);
  }
}

async function openPage(address) {
  const target = new URL(address, self.location.origin);
  if (target.origin === self.location.origin) {
    const [page] = await self.clients.matchAll({ type: 'window' });
    if (page) {
      await page.focus();
      await page.navigate(target.href).catch(() => self.clients.openWindow(target.href));
      return;
    }
  }
  await self.clients.openWindow(target.href);
}
