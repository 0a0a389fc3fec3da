import { adminAuthorization } from '../support/host.ts';
import { hour, range, pseudoRandom, type House, type Moment } from './moment.ts';

/** Requests of apps during the day: more in the evening, few at night. */
export async function traffic({ host, ask }: House): Promise<readonly Moment[]> {
  const requestedPaths: readonly (readonly [service: string, path: string])[] = [
    ['push', '/home-info-door/json?poll=1&since=1h'],
    ['addons', '/manifest.json'],
    ['git', '/api/v1/repos/ada/lamp'],
    ['data', '/rest/v1/'],
    ['uptime', '/metrics'],
  ];
  const getHour = (ago: number): number => new Date(Date.now() - ago).getHours();
  const messagesPerDay = (ago: number): number => {
    const hour = getHour(ago);
    return hour < 6 ? 1 : hour < 17 ? 4 : 9;
  };
  return range(0, 24).flatMap((back) => {
    const ago = (back + 0.5) * hour;
    return {
      ago,
      async run() {
        for (const [hour, [service, path]] of requestedPaths.entries()) {
          const times = 1 + pseudoRandom(back * 7 + hour, messagesPerDay(ago));
          const headers = { authorization: adminAuthorization };
          for (const _ of range(0, times))
            await fetch(host.url(service) + path, { headers }).then((r) => r.arrayBuffer());
        }
        if (back % 6 === 5) await ask('PATCH', '/inbox', { ids: 'all', read: true });
      },
    };
  });
}
