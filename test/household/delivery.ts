import { SmtpDialogue } from '../support/smtp.ts';
import { daily, day, hour, minute, range, pseudoRandom, type House, type Moment } from './moment.ts';
import { openStandIn } from './stand-in.ts';

/**
 * Destinations, notifications of programs and mails of devices. One destination has been unreachable since yesterday.
 */
export async function delivery({ host, ask, keep }: House): Promise<readonly Moment[]> {
  let isGotifyAway = false;
  const gotify = keep(
    await openStandIn(8070, (request, response) => {
      request.resume();
      const status = isGotifyAway ? 503 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 7 }));
    }),
  );
  const assistant = keep(
    await openStandIn(8123, (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    }),
  );
  const refuses = keep(
    await openStandIn(9010, (request, response) => {
      request.resume();
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid token"}');
    }),
  );
  const notify = async (
    key: string,
    title: string,
    body: string,
    overrides: Record<string, string> = {},
  ): Promise<void> => {
    const form = new URLSearchParams({ title, body, ...overrides });
    const reply = await fetch(`${host.url('notify')}/notify/${key}`, { method: 'POST', body: form });
    // Status 424: a destination refused it within the wait time.
    if (![200, 424].includes(reply.status)) throw new Error(`${key}: ${await reply.text()}`);
  };
  const mail = async (to: string, subject: string, body: string): Promise<void> => {
    using dialogue = await SmtpDialogue.open(host.port('mail'));
    await dialogue.send(to, subject, body);
  };
  const house = [
    'inbox://',
    `gotify://127.0.0.1:${String(gotify.port)}/AbCdEfGhIjKlMnO`,
    `phones=hassio://127.0.0.1:${String(assistant.port)}/a.long.token`,
    `night=json://127.0.0.1:${String(assistant.port)}/lamp/red`,
  ];
  return [
    {
      ago: 30 * day,
      async run() {
        await ask('POST', '/notify/keys', { key: 'house', text: house.join('\n') });
        await ask('POST', '/notify/keys', {
          key: 'watchtower',
          text: `inbox://\nxml://127.0.0.1:${String(refuses.port)}/chat`,
        });
        await ask('PATCH', '/settings/mail', {
          recipients: [
            { address: 'alerts', to: 'notify://house' },
            { address: 'backup-*@nas.lan', to: 'push://nas-info-backup' },
            { address: 'camera', to: 'push://home-info-camera' },
          ],
          rules: [{ subject: 'Test of the battery', drop: true }],
        });
      },
    },
    ...daily(range(1, 29), 6, (back) =>
      notify('house', `Backup of the laptop, ${String(2 + pseudoRandom(back, 20))} GB`, 'Nothing is missing.', {
        type: 'success',
      }),
    ),
    ...daily(range(1, 29, 2), 17, (back) =>
      notify('house', 'A window is open', `The attic, for ${String(20 + pseudoRandom(back, 60))} min. Rain is near.`, {
        type: 'warning',
      }),
    ),
    ...daily(range(1, 29, 5), 11, () =>
      notify('watchtower', 'Two containers are new', 'jellyfin 10.10, paperless 2.13', {}),
    ),
    ...daily(range(0, 29), 21, (back) =>
      mail('alerts@nas.lan', `[nas] Disk ${String(back % 4)} was checked`, 'No bad sectors. 31 °C.'),
    ),
    ...daily(range(0, 29, 3), 8, () =>
      mail('backup-full@nas.lan', 'Full backup finished', 'photos, music and papers: 1.2 TB in 4 h 12 min.'),
    ),
    ...daily(range(0, 29, 9), 12, () => mail('nobody@nas.lan', 'Hello', 'To an address that nobody made.')),
    { ago: 5 * hour, run: async () => (isGotifyAway = true) },
    {
      ago: 4 * hour,
      run: () => notify('house', 'A window is open', 'The attic, for 35 min.', { type: 'warning' }),
    },
    {
      ago: 70 * minute,
      run: () => notify('house', 'The freezer is warm', '-9 °C for 20 min.', { type: 'failure' }),
    },
    { ago: 12 * minute, run: () => mail('camera@nas.lan', 'Motion at the gate', 'Front camera, 1 person.') },
  ];
}
