import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { lan, phoneAddress } from '../support/gateway/phone.ts';
import { admin } from '../support/host.ts';
import { day, hour, type House, type Moment } from './moment.ts';

/** Services that phones and the television reach, and a signed-in phone. */
export async function network({ ask }: House): Promise<readonly Moment[]> {
  const settings = {
    shared: ['control', 'downloads', 'photos'],
    open: ['push', 'addons', 'git'],
    name: 'nas',
    outside: ['photos=http://127.0.0.1:2342'],
  };
  return [
    { ago: 29 * day, run: () => ask('PATCH', '/settings/gateway', settings) },
    {
      ago: 3 * hour,
      async run() {
        const { services } = await ask('GET', '/gateway');
        const of = services.find(({ id }: { id: string }) => id === 'downloads');
        const { url } = of.addresses.find(({ by }: { by: string }) => by === 'name');
        const { host, port } = new URL(url);
        const outgoing = request({
          ...{ host: lan, port, path: '/.homeport/sign-in', method: 'POST', rejectUnauthorized: false, agent: false },
          headers: {
            ...{ Host: host, Origin: url },
            'User-Agent': 'Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
          },
          localAddress: phoneAddress,
        });
        const [answer] = (await once(outgoing.end(new URLSearchParams(admin).toString()), 'response')) as [
          IncomingMessage,
        ];
        answer.resume();
        if (answer.statusCode !== 303) throw new Error(`The phone was answered ${String(answer.statusCode)}.`);
      },
    },
  ];
}
