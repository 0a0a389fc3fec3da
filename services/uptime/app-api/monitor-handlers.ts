import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Rights } from '../../contracts/route-access.ts';
import type { Context } from '../../contracts/service.ts';
import { uptimeApi } from '../../contracts/uptime/api.ts';
import type { Incident, MonitorRow } from '../../contracts/uptime/views.ts';
import { heartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { getLastHours } from '../domain/last-hours.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { Options } from '../monitoring/options.ts';
import { getProblems } from '../monitoring/monitor-problems.ts';
import { getMaxGapMs, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import type { UptimeStores } from '../store/stores.ts';
import { toHeartbeatView, toMonitorView, toRowView } from '../wire/views.ts';

const success = { ok: true } as const;

export interface MonitorHandlerDependencies {
  readonly context: Context;
  readonly monitoring: Monitoring;
  readonly stores: UptimeStores;
  readonly options: Options;
}

/** Returns the handlers of `/api/uptime`, which the service's listener serves below `/api` as well. */
export function createUptimeHandlers(dependencies: MonitorHandlerDependencies): readonly ApiHandler[] {
  return [
    ...monitorListHandlers(dependencies),
    ...monitorHandlers(dependencies),
    ...historyHandlers(dependencies),
    ...incidentHandlers(dependencies),
    ...otherHandlers(dependencies),
  ];
}

function monitorListHandlers({
  context,
  monitoring: { monitors },
  stores: { heartbeats: beats, dockerHosts, tags },
}: MonitorHandlerDependencies): readonly ApiHandler[] {
  const now = (): number => context.clock.now();
  const row = (monitor: RuntimeMonitor): MonitorRow => toRowView(monitor, monitors.isActive(monitor), now());
  return [
    implement(uptimeApi.overview, async () => ({
      rows: monitors.all().map(row),
      dockerHosts: await dockerHosts.list(),
      tags: [...tags.all.values()],
    })),

    implement(uptimeApi.recent, async ({ query: { ids, count } }) => {
      const storedIncident = await beats.recent(ids.split(',').map(Number), count);
      return Object.fromEntries(
        [...storedIncident].map(([id, list]) => [
          String(id),
          list.map(({ status, ping, at }): [0 | 1 | 2 | 3, number | null, number] => [status, ping, at]),
        ]),
      );
    }),

    implement(uptimeApi.hours, ({ query: { ids } }) => {
      const requestedMonitors = ids.split(',').flatMap((id) => monitors.find(Number(id)) ?? []);
      return Object.fromEntries(
        requestedMonitors.map((monitor) => {
          const { hours, config } = monitor;
          return [String(monitor.id), getLastHours({ hours, now: now(), maxGapMs: getMaxGapMs(config) })];
        }),
      );
    }),

    implement(uptimeApi.monitors, ({ rights, query: { limit, cursor, status, parent, q } }) => {
      const searchText = (q ?? '').toLowerCase();
      const matching = monitors.all().filter((monitor) => {
        const { target, name, state, active } = row(monitor);
        const isStatus =
          status === undefined || (status === 'paused' ? !active : active && state.status === heartbeatStatus[status]);
        const isIn = parent === undefined || monitor.config.parent === parent;
        return isStatus && isIn && `${name}\n${target}`.toLowerCase().includes(searchText);
      });
      const page = matching.filter(({ id }) => id > (cursor ?? 0)).slice(0, limit);
      const last = page.at(-1)?.id ?? null;
      const hasMore = last !== null && matching.some(({ id }) => id > last);
      const items = page.map((monitor) => toMonitorView(monitor, now(), canWrite(rights)));
      return { items, nextCursor: hasMore ? last : null, total: matching.length };
    }),
  ];
}

function monitorHandlers({
  context,
  monitoring,
  stores: { heartbeats: beats },
}: MonitorHandlerDependencies): readonly ApiHandler[] {
  const { monitors } = monitoring;
  const now = (): number => context.clock.now();
  return [
    implement(uptimeApi.add, async ({ query, body }) => {
      if (query.strict === true) rejectUnknownFields(body);
      return toMonitorView(await monitors.add(body), now(), true);
    }),

    implement(uptimeApi.addMany, async ({ body: { items } }) => {
      const parsedItems = items.map((item) => monitors.parse(item));
      const added = await monitors.addAll(parsedItems.flatMap((one) => ('config' in one ? [one.config] : [])));
      let next = 0;
      return {
        items: parsedItems.map((one) => ('error' in one ? { error: one.error } : { id: added[next++]?.id ?? 0 })),
      };
    }),

    implement(uptimeApi.monitor, ({ params, rights }) =>
      toMonitorView(monitors.get(parseId(params)), now(), canWrite(rights)),
    ),
    implement(uptimeApi.change, async ({ params, body }) =>
      toMonitorView(await monitors.change(parseId(params), body, { merge: true }), now(), true),
    ),
    implement(uptimeApi.replace, async ({ params, body }) =>
      toMonitorView(await monitors.change(parseId(params), body, { merge: false }), now(), true),
    ),
    implement(uptimeApi.remove, async ({ params, query }) => {
      await monitors.remove(parseId(params), { findChildren: query.deleteChildren === true });
      return success;
    }),
    implement(uptimeApi.duplicate, async ({ params }) =>
      toMonitorView(await monitors.duplicate(parseId(params)), now(), true),
    ),
    implement(uptimeApi.test, async ({ body: { id, config } }) => {
      const { status, msg, failure, ping } = await monitors.test(config, id);
      return { status, msg, ...(failure === undefined ? {} : { failure }), ping };
    }),
    implement(uptimeApi.pause, async ({ params }) => {
      await monitors.setActive(parseId(params), false);
      return success;
    }),
    implement(uptimeApi.resume, async ({ params }) => {
      await monitors.setActive(parseId(params), true);
      return success;
    }),
    implement(uptimeApi.check, async ({ params }) => {
      const monitor = monitors.get(parseId(params));
      if (!monitors.isActive(monitor)) throw new Problem('uptime.paused', 409, m.monitorPaused());
      await monitoring.checkNow(monitor);
      const [heartbeat] = await beats.list(monitor.id, { limit: 1 });
      if (heartbeat === undefined) throw new Problem('uptime.no_beat', 503, m.checkWithoutResult);
      return toHeartbeatView(heartbeat);
    }),
  ];
}

function historyHandlers({
  monitoring: { monitors, recorder, statistics },
  stores: { heartbeats: beats },
}: MonitorHandlerDependencies): readonly ApiHandler[] {
  return [
    implement(uptimeApi.beats, async ({ params, query: { limit, before, important } }) => {
      const { id } = monitors.get(parseId(params));
      await recorder.flush();
      const list = await beats.list(id, { limit, before, ...(important === undefined ? {} : { important }) });
      return { items: list.map(toHeartbeatView), nextCursor: list.length < limit ? null : (list.at(-1)?.at ?? null) };
    }),
    implement(uptimeApi.chart, async ({ params, query: { hours } }) => {
      const monitor = monitors.get(parseId(params));
      return {
        items: await statistics.getChart(monitor, hours),
        previous: await statistics.getPreviousChart(monitor, hours),
        usual: monitor.usual ?? null,
      };
    }),
    implement(uptimeApi.facts, async ({ params, rights }) => {
      const monitor = monitors.get(parseId(params));
      const facts = { ...(await statistics.getFacts(monitor)), problems: getProblems(monitor) };
      // The token permits reporting for the monitor.
      return canWrite(rights) ? facts : { ...facts, pushPath: null };
    }),
  ];
}

function incidentHandlers({
  context,
  monitoring,
  stores: { incidents },
}: MonitorHandlerDependencies): readonly ApiHandler[] {
  const find = async (params: Readonly<Record<string, string>>): Promise<Incident> => {
    const storedIncident = await incidents.find(parseId(params));
    if (storedIncident === undefined) throw new Problem('uptime.unknown_incident', 404, m.incidentNotFound());
    return storedIncident;
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
        incidents.addNote(transaction, id, { at: context.clock.now(), by: identity?.account ?? 'key', text }),
      ),
    ),
    implement(uptimeApi.resolve, async ({ params }) => {
      const incident = await change(params, (transaction, { id }) =>
        incidents.resolve(transaction, id, context.clock.now()),
      );
      await monitoring.handleResolvedIncident(incident);
      return incident;
    }),
  ];
}

function otherHandlers({
  monitoring: { checker },
  stores: { dockerHosts, keys },
  options,
}: MonitorHandlerDependencies): readonly ApiHandler[] {
  return [
    implement(uptimeApi.dockerHosts, async () => ({ items: await dockerHosts.list() })),
    implement(uptimeApi.addDockerHost, ({ body }) => dockerHosts.put(body)),
    implement(uptimeApi.removeDockerHost, async ({ params }) => {
      await dockerHosts.remove(parseId(params));
      return success;
    }),
    implement(uptimeApi.testDockerHost, async ({ body }) => {
      const containers = await checker.listContainers({ id: 0, ...body });
      return { ok: true as const, count: containers.length, containers: [...containers] };
    }),
    implement(uptimeApi.apiKeys, async () => ({ items: await keys.list() })),
    implement(uptimeApi.addApiKey, ({ body }) => keys.add(body.name, body.expires ?? null)),
    implement(uptimeApi.removeApiKey, async ({ params }) => {
      await keys.remove(parseId(params));
      return success;
    }),
    implement(uptimeApi.options, () => options.current),
    implement(uptimeApi.setOptions, ({ body }) => options.set(body as Partial<typeof options.current>)),
  ];
}

function canWrite(rights: Rights): boolean {
  return rights.all || rights.may('uptime', 'write', '*');
}

/** @throws Problem `uptime.unknown` (404) */
export function parseId(params: Readonly<Record<string, string>>): number {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id) || id <= 0) throw new Problem('uptime.unknown', 404, m.idNotFound());
  return id;
}

function rejectUnknownFields(body: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(body).filter((name) => !(name in MonitorConfig.shape));
  if (unknown.length === 0) return;
  throw new Problem('uptime.invalid', 400, m.fieldUnknownNamed({ name: unknown[0] ?? '' }), {
    fields: Object.fromEntries(unknown.map((name) => [name, m.fieldUnknown()])),
  });
}
