import type { Kysely } from 'kysely';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Rights } from '../../contracts/route-access.ts';
import type { Context } from '../../contracts/service.ts';
import { uptimeApi } from '../../contracts/uptime/api.ts';
import type { Incident, MonitorRow } from '../../contracts/uptime/views.ts';
import { heartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { lastHours } from '../domain/last-hours.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { DockerHosts } from '../store/docker-hosts.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { Checker } from '../check/checker.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Options } from '../monitoring/options.ts';
import type { Recorder } from '../monitoring/recorder.ts';
import type { Figures } from '../monitoring/statistics.ts';
import { longestGapMs, type Watched } from '../monitoring/monitor-state.ts';
import { beatView, monitorView, rowView } from '../wire/views.ts';

export interface ApiParts {
  readonly context: Context;
  readonly monitors: Monitors;
  readonly beats: BeatStore;
  readonly incidents: IncidentStore;
  readonly dockerHosts: DockerHosts;
  readonly checker: Checker;
  readonly recorder: Recorder;
  readonly options: Options;
  readonly figures: Figures;
  readonly keys: ApiKeys;
  /** Checks a monitor immediately and resolves once the heartbeat is stored. */
  readonly checkNow: (watched: Watched) => Promise<void>;
  /** Called after an incident was resolved manually. */
  readonly resolved: (incident: Incident) => void;
}

/** Returns the handlers of `/api/uptime`, which the service's listener serves below `/api` as well. */
export function uptimeHandlers(parts: ApiParts): readonly ApiHandler[] {
  return [...monitorHandlers(parts), ...historyHandlers(parts), ...otherHandlers(parts)];
}

function monitorHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, monitors, beats, dockerHosts } = parts;
  const now = (): number => context.clock.now();
  const row = (watched: Watched): MonitorRow => rowView(watched, monitors.isActive(watched), now());
  return [
    implement(uptimeApi.overview, async () => ({
      rows: monitors.all().map(row),
      dockerHosts: await dockerHosts.list(),
    })),

    implement(uptimeApi.recent, async ({ query: { ids, count } }) => {
      const found = await beats.recent(ids.split(',').map(Number), count);
      return Object.fromEntries(
        [...found].map(([id, list]) => [
          String(id),
          list.map(({ status, ping, at }): [0 | 1 | 2 | 3, number | null, number] => [status, ping, at]),
        ]),
      );
    }),

    implement(uptimeApi.hours, ({ query: { ids } }) => {
      const asked = ids.split(',').flatMap((id) => monitors.find(Number(id)) ?? []);
      return Object.fromEntries(
        asked.map((watched) => {
          const { hours, config } = watched;
          return [String(watched.id), lastHours({ hours, now: now(), longestGapMs: longestGapMs(config) })];
        }),
      );
    }),

    implement(uptimeApi.monitors, ({ rights, query: { limit, cursor, status, parent, q } }) => {
      const words = (q ?? '').toLowerCase();
      const wanted = monitors.all().filter((watched) => {
        const { target, name, state, active } = row(watched);
        const isStatus =
          status === undefined || (status === 'paused' ? !active : active && state.status === heartbeatStatus[status]);
        const isIn = parent === undefined || watched.config.parent === parent;
        return isStatus && isIn && `${name}\n${target}`.toLowerCase().includes(words);
      });
      const page = wanted.filter(({ id }) => id > (cursor ?? 0)).slice(0, limit);
      const last = page.at(-1)?.id ?? null;
      const more = last !== null && wanted.some(({ id }) => id > last);
      const items = page.map((watched) => monitorView(watched, now(), mayWrite(rights)));
      return { items, nextCursor: more ? last : null, total: wanted.length };
    }),

    implement(uptimeApi.add, async ({ query, body }) => {
      if (query.strict === true) refuseUnknown(body);
      return monitorView(await monitors.add(body), now(), true);
    }),

    implement(uptimeApi.addMany, async ({ body: { items } }) => {
      const read = items.map((item) => monitors.read(item));
      const added = await monitors.addAll(read.flatMap((one) => ('config' in one ? [one.config] : [])));
      let next = 0;
      return {
        items: read.map((one) => ('trouble' in one ? { error: one.trouble } : { id: added[next++]?.id ?? 0 })),
      };
    }),

    implement(uptimeApi.monitor, ({ params, rights }) =>
      monitorView(monitors.get(idOf(params)), now(), mayWrite(rights)),
    ),
    implement(uptimeApi.change, async ({ params, body }) =>
      monitorView(await monitors.change(idOf(params), body, { merge: true }), now(), true),
    ),
    implement(uptimeApi.replace, async ({ params, body }) =>
      monitorView(await monitors.change(idOf(params), body, { merge: false }), now(), true),
    ),
    implement(uptimeApi.remove, async ({ params, query }) => {
      await monitors.remove(idOf(params), { children: query.deleteChildren === true });
      return done;
    }),
    implement(uptimeApi.pause, async ({ params }) => {
      await monitors.setActive(idOf(params), false);
      return done;
    }),
    implement(uptimeApi.resume, async ({ params }) => {
      await monitors.setActive(idOf(params), true);
      return done;
    }),
    implement(uptimeApi.check, async ({ params }) => {
      const watched = monitors.get(idOf(params));
      if (!monitors.isActive(watched)) throw new Problem('uptime.paused', 409, 'The monitor is paused.');
      await parts.checkNow(watched);
      const [beat] = await beats.list(watched.id, { limit: 1 });
      if (beat === undefined) throw new Problem('uptime.no_beat', 503, 'The check brought no result. Try again.');
      return beatView(beat);
    }),
  ];
}

function historyHandlers({ context, monitors, beats, incidents, recorder, figures, resolved }: ApiParts) {
  const find = async (params: Readonly<Record<string, string>>): Promise<Incident> => {
    const found = await incidents.find(idOf(params));
    if (found === undefined) throw new Problem('uptime.unknown_incident', 404, 'There is no such incident.');
    return found;
  };
  const change = async (
    params: Readonly<Record<string, string>>,
    work: (transaction: Kysely<any>, incident: Incident) => Promise<void>,
  ): Promise<Incident> => {
    const incident = await find(params);
    await context.commit((transaction) => work(transaction, incident));
    return find(params);
  };
  return [
    implement(uptimeApi.beats, async ({ params, query: { limit, before, important } }) => {
      const { id } = monitors.get(idOf(params));
      await recorder.settled();
      const list = await beats.list(id, { limit, before, ...(important === undefined ? {} : { important }) });
      return { items: list.map(beatView), nextCursor: list.length < limit ? null : (list.at(-1)?.at ?? null) };
    }),
    implement(uptimeApi.chart, async ({ params, query: { hours } }) => {
      const watched = monitors.get(idOf(params));
      return { items: await figures.chart(watched, hours), usual: watched.usual ?? null };
    }),
    implement(uptimeApi.facts, async ({ params, rights }) => {
      const facts = await figures.facts(monitors.get(idOf(params)));
      // The token permits reporting for the monitor.
      return mayWrite(rights) ? facts : { ...facts, pushPath: null };
    }),
    implement(uptimeApi.incidents, async ({ query: { open, monitor, limit, before } }) => {
      const items = await incidents.list({ open, monitor, before, limit });
      return { items, nextCursor: items.length < limit ? null : (items.at(-1)?.id ?? null) };
    }),
    implement(uptimeApi.incident, ({ params }) => find(params)),
    implement(uptimeApi.acknowledge, ({ params, identity }) =>
      change(params, (transaction, { id }) =>
        incidents.acknowledge(transaction, id, identity?.account ?? 'key', context.clock.now()),
      ),
    ),
    implement(uptimeApi.note, ({ params, identity, body: { text } }) =>
      change(params, (transaction, { id }) =>
        incidents.note(transaction, id, { at: context.clock.now(), by: identity?.account ?? 'key', text }),
      ),
    ),
    implement(uptimeApi.resolve, async ({ params }) => {
      const incident = await change(params, (transaction, { id }) =>
        incidents.resolve(transaction, id, context.clock.now()),
      );
      resolved(incident);
      return incident;
    }),
  ];
}

function otherHandlers({ dockerHosts, checker, keys, options }: ApiParts): readonly ApiHandler[] {
  return [
    implement(uptimeApi.dockerHosts, async () => ({ items: await dockerHosts.list() })),
    implement(uptimeApi.addDockerHost, ({ body }) => dockerHosts.put(body)),
    implement(uptimeApi.removeDockerHost, async ({ params }) => {
      await dockerHosts.remove(idOf(params));
      return done;
    }),
    implement(uptimeApi.testDockerHost, async ({ body }) => {
      const containers = await checker.containers({ id: 0, ...body });
      return { ok: true as const, count: containers.length, containers: [...containers] };
    }),
    implement(uptimeApi.apiKeys, async () => ({ items: await keys.list() })),
    implement(uptimeApi.addApiKey, ({ body }) => keys.add(body.name, body.expires ?? null)),
    implement(uptimeApi.removeApiKey, async ({ params }) => {
      await keys.remove(idOf(params));
      return done;
    }),
    implement(uptimeApi.options, () => options.current),
    implement(uptimeApi.setOptions, ({ body }) => options.set(body as Partial<typeof options.current>)),
  ];
}

const done = { ok: true } as const;

function mayWrite(rights: Rights): boolean {
  return rights.all || rights.may('uptime', 'write', '*');
}

function idOf(params: Readonly<Record<string, string>>): number {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id) || id <= 0)
    throw new Problem('uptime.unknown', 404, 'There is nothing of that number.');
  return id;
}

function refuseUnknown(body: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(body).filter((name) => !(name in MonitorConfig.shape));
  if (unknown.length === 0) return;
  throw new Problem('uptime.invalid', 400, `There is no field ${unknown[0] ?? ''}.`, {
    fields: Object.fromEntries(unknown.map((name) => [name, 'There is no such field.'])),
  });
}
