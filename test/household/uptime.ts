import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { adminAuthorization } from '../support/host.ts';
import { writeKumaDatabase } from '../services/uptime/kuma-database.ts';
import { day, hour, minute, range, pseudoRandom, type House, type Moment } from './moment.ts';
import { openStandIn } from './stand-in.ts';

interface Watched {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Usual response time in ms. */
  readonly ping: number;
  /** Start and end of the outage, in hours before now. */
  readonly away?: readonly (readonly [from: number, to: number])[];
}

const kumaTime = (minutesAgo: number): string => new Date(minutesAgo).toISOString().replace('T', ' ').slice(0, 23);

/** Monitors of the household, with a month of history that was imported from another program. */
export async function uptime({ host, folder, ask, keep }: House): Promise<readonly Moment[]> {
  const web = async (port: number): Promise<string> =>
    keep(await openStandIn(port, (_request, response) => void setTimeout(() => response.end('fine'), 8 + (port % 30))))
      .url;
  const monitors: readonly Watched[] = [
    { name: 'Photos', ping: 38, fields: { type: 'http', url: await web(2283) } },
    { name: 'Films', ping: 22, fields: { type: 'http', url: await web(8096) }, away: [[300, 296]] },
    {
      name: 'Papers',
      ping: 61,
      fields: { type: 'http', url: await web(8010) },
      away: [
        [9.5, 9.1],
        [120, 119],
      ],
    },
    { name: 'Passwords', ping: 18, fields: { type: 'http', url: await web(8222) } },
    { name: 'The NAS', ping: 1, fields: { type: 'ping', hostname: '127.0.0.1' }, away: [[500, 497]] },
    { name: 'Printer', ping: 9, fields: { type: 'port', hostname: '127.0.0.1', port: 9 }, away: [[3.2, 0]] },
    {
      name: 'Nightly backup',
      ping: 0,
      fields: { type: 'push', push_token: 'abcdefghijklmnopqrstuvwxyz012345', interval: 86_400 },
    },
    { name: 'Router', ping: 3, fields: { type: 'ping', hostname: '127.0.0.1', active: 0 } },
  ];
  const isAway = ({ away = [] }: Watched, hoursAgo: number): boolean =>
    away.some(([from, to]) => hoursAgo <= from && hoursAgo > to);
  const past = (now: number): Record<string, object[]> => {
    const rows = { heartbeat: [] as object[], stat_hourly: [] as object[], stat_daily: [] as object[] };
    for (const [index, watched] of monitors.entries()) {
      const monitor_id = index + 1;
      const ping = (minutesAgo: number): number =>
        Math.max(1, watched.ping + pseudoRandom(minutesAgo + index * 97, watched.ping / 2 + 2));
      // Older history contains only the changes.
      for (const [from, to] of (watched.away ?? []).filter(([, end]) => end >= 24).toSorted(([a], [b]) => b - a)) {
        const change = (status: number, hoursAgo: number, msg: string): object => ({
          ...{ monitor_id, status, important: 1, down_count: 0, time: kumaTime(now - hoursAgo * hour) },
          ...{ ping: status === 0 ? null : ping(hoursAgo), duration: 60, msg },
        });
        rows.heartbeat.push(change(0, from, 'timeout of 48000ms exceeded'), change(1, to, '200 - OK'));
      }
      let [wasAway, downCount] = [false, 0];
      if (watched.ping > 0)
        for (const at of range(1, 24 * 60).toReversed()) {
          const away = isAway(watched, at / 60);
          downCount = away ? downCount + 1 : 0;
          rows.heartbeat.push({
            ...{ monitor_id, status: away ? 0 : 1, important: away === wasAway ? 0 : 1, down_count: downCount },
            ...{ time: kumaTime(now - at * minute), ping: away ? null : ping(at), duration: 60 },
            msg: away ? 'connect ECONNREFUSED 127.0.0.1:9' : '200 - OK',
          });
          wasAway = away;
        }
      const stat = (timestamp: number, up: number, down: number, at: number): object => ({
        ...{ monitor_id, timestamp: timestamp / 1000, up, down, ping: up === 0 ? 0 : ping(at) },
        ...{ ping_min: watched.ping, ping_max: watched.ping * 2 + 3 },
      });
      for (const back of range(24, 30 * 24)) {
        const down = isAway(watched, back) ? 60 : 0;
        rows.stat_hourly.push(stat(Math.floor((now - back * hour) / hour) * hour, 60 - down, down, back));
      }
      for (const back of range(1, 90)) {
        const down = range(0, 24).filter((each) => isAway(watched, back * 24 + each)).length * 60;
        rows.stat_daily.push(stat(Math.floor((now - back * day) / day) * day, 1440 - down, down, back));
      }
    }
    return rows;
  };
  return [
    {
      ago: 1000,
      async run() {
        const file = join(folder, 'kuma.db');
        writeKumaDatabase(file, {
          user: [{ id: 1, username: 'ada', password: 'x' }],
          monitor: monitors.map(({ name, fields }, at) => ({
            ...{ id: at + 1, name, active: 1, interval: 60, user_id: 1, maxretries: 0 },
            ...fields,
          })),
          tag: [
            { id: 1, name: 'home', color: '#0e7490' },
            { id: 2, name: 'family', color: '#7c3aed' },
          ],
          monitor_tag: [1, 2, 3].map((monitor_id) => ({ monitor_id, tag_id: 2, value: '' })),
          ...past(Date.now()),
        });
        const reply = await fetch(`${host.url('uptime')}/api/import`, {
          method: 'POST',
          headers: { authorization: adminAuthorization },
          body: readFileSync(file),
        });
        if (!reply.ok) throw new Error(await reply.text());
        const { items } = await ask('GET', '/uptime/monitors');
        // The first call waits for the imported history.
        for (const { id, active } of items)
          if (active) await ask('POST', `/uptime/monitors/${String(id)}/check`).catch(() => undefined);
        const ids = (names: readonly string[]): object[] =>
          items.filter(({ name }: any) => names.includes(name)).map(({ id }: any) => ({ id }));
        const page = await ask('POST', '/uptime/status-pages', { slug: 'home', title: 'Our home' });
        await ask('PUT', '/uptime/status-pages/home', {
          description: 'What works at home, for the family.',
          publicGroupList: [
            { name: 'For everybody', monitorList: ids(['Photos', 'Films', 'Papers']) },
            { name: 'Machines', monitorList: ids(['The NAS', 'Printer']) },
          ],
        });
        await ask('POST', '/uptime/status-pages/home/incidents', {
          ...{ title: 'New disks on Saturday', content: 'Photos and films are away from **10:00** to 12:00.' },
          style: 'info',
        });
        const soon = new Date(Date.now() + 3 * day).toISOString().slice(0, 10);
        await ask('POST', '/uptime/maintenances', {
          ...{ title: 'New disks', description: 'Both are changed.', strategy: 'single' },
          ...{
            dateRange: [`${soon} 10:00`, `${soon} 12:00`],
            monitors: ids(['The NAS', 'Photos']).map(({ id }: any) => id),
            statusPages: [page.id],
          },
        });
        await ask('POST', '/uptime/maintenances', {
          ...{ title: 'Updates at night', strategy: 'recurring-weekday', weekdays: [1, 4] },
          ...{
            timeRange: [
              { hours: 3, minutes: 0 },
              { hours: 4, minutes: 0 },
            ],
            monitors: ids(['Papers']).map(({ id }: any) => id),
          },
        });
        await fetch(`${host.url('uptime')}/api/push/abcdefghijklmnopqrstuvwxyz012345?status=up&msg=OK`);
      },
    },
  ];
}
