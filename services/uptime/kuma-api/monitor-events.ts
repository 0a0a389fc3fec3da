import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { toListedHeartbeat, toKumaMonitor, getTags } from '../wire/kuma-monitor.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import {
  toNumber,
  toRecord,
  toTranslatedMessage,
  toText,
  type Session,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';

const hourMs = 3_600_000;
/** Derived fields, which cannot be set. */
const derivedFields = [
  'id',
  'path',
  'pathName',
  'childrenIDs',
  'forceInactive',
  'maintenance',
  'includeSensitiveData',
  'tags',
  'state',
  'secrets',
];

/** Returns the calls for monitors, heartbeats and tags. */
export function monitorEvents(dependencies: SocketDependencies): SocketEvents {
  const { context, monitors, beats, recorder, figures, tags } = dependencies;
  const view = (monitor: RuntimeMonitor, session: Session) =>
    toKumaMonitor(monitor, monitors, tags.all, canWrite(dependencies, session));
  const clear = async (
    work: (transaction: Kysely<any>) => Promise<void>,
    list: readonly RuntimeMonitor[],
  ): Promise<void> => {
    await recorder.flush();
    await context.commit(work);
    for (const monitor of list) {
      monitor.hours.clear();
      monitor.days.clear();
      monitor.usual = undefined;
    }
  };
  const setTags = (id: number, list: readonly { readonly tag_id: number; readonly value: string }[]) =>
    monitors.change(id, { tags: list }, { merge: true, lenient: true });
  return {
    add: {
      needs: 'write',
      async run(_session, input) {
        const monitor = await monitors.add(parseConfig(input), { lenient: true });
        return toTranslatedMessage('successAdded', { monitorID: monitor.id });
      },
    },
    editMonitor: {
      needs: 'write',
      async run(_session, input) {
        const id = toNumber(toRecord(input)['id']);
        const { tags: existingTags } = monitors.get(id).config;
        const config = parseConfig(input);
        await monitors.change(
          id,
          { ...config, ...(existingTags === undefined ? {} : { tags: existingTags }) },
          { merge: false, lenient: true },
        );
        return { msg: 'Saved.', msgi18n: true, monitorID: id };
      },
    },
    getMonitor: { needs: 'read', run: (session, id) => ({ monitor: view(monitors.get(toNumber(id)), session) }) },
    getMonitorList: {
      needs: 'read',
      run(session) {
        session.emit('monitorList', monitorList(dependencies, session));
        return {};
      },
    },
    pauseMonitor: {
      needs: 'write',
      async run(_session, id) {
        await monitors.setActive(toNumber(id), false);
        return toTranslatedMessage('successPaused');
      },
    },
    resumeMonitor: {
      needs: 'write',
      async run(_session, id) {
        await monitors.setActive(toNumber(id), true);
        return toTranslatedMessage('successResumed');
      },
    },
    deleteMonitor: {
      needs: 'write',
      async run(_session, id, children) {
        await monitors.remove(toNumber(id), { findChildren: children === true });
        return toTranslatedMessage('successDeleted');
      },
    },
    getMonitorBeats: {
      needs: 'read',
      async run(_session, id, hours) {
        await recorder.flush();
        const from = context.clock.now() - Math.min(8784, Math.max(0, Number(hours) || 0)) * hourMs;
        return { data: (await beats.since(monitors.get(toNumber(id)).id, from)).map(toListedHeartbeat) };
      },
    },
    getMonitorChartData: {
      needs: 'read',
      async run(_session, id, hours) {
        const hourCount = Math.min(8784, Math.max(1, toNumber(hours)));
        const points = await figures.getChart(monitors.get(toNumber(id)), hourCount);
        return {
          data: points
            .map(({ p95: _p95, ...point }) => ({
              ...point,
              avgPing: point.avgPing ?? 0,
              minPing: point.minPing ?? 0,
              maxPing: point.maxPing ?? 0,
            }))
            .toReversed(),
        };
      },
    },
    monitorImportantHeartbeatListCount: {
      needs: 'read',
      async run(_session, id) {
        return { count: await beats.countImportant(id === null || id === undefined ? undefined : toNumber(id)) };
      },
    },
    monitorImportantHeartbeatListPaged: {
      needs: 'read',
      async run(_session, id, offset, count) {
        await recorder.flush();
        const monitorId = id === null || id === undefined ? undefined : toNumber(id);
        const list = await beats.important(
          monitorId,
          Math.max(0, toNumber(offset)),
          Math.min(1000, Math.max(1, toNumber(count))),
        );
        return { data: list.map(toListedHeartbeat) };
      },
    },
    clearEvents: {
      needs: 'write',
      async run(_session, id) {
        const monitorId = monitors.get(toNumber(id)).id;
        await recorder.flush();
        await context.commit((transaction) => beats.clearImportant(transaction, monitorId));
        return {};
      },
    },
    clearHeartbeats: {
      needs: 'write',
      async run(_session, id) {
        const monitor = monitors.get(toNumber(id));
        await clear((transaction) => beats.clear(transaction, monitor.id), [monitor]);
        return {};
      },
    },
    clearStatistics: {
      needs: 'write',
      async run() {
        await clear(async (transaction) => {
          await beats.clear(transaction, undefined);
          await dependencies.buckets.clear(transaction);
        }, monitors.all());
        return {};
      },
    },
    getTags: { needs: 'read', run: () => ({ tags: [...tags.all.values()] }) },
    addTag: { needs: 'write', run: async (_session, tag) => ({ tag: await tags.add(parseTag(tag)) }) },
    editTag: {
      needs: 'write',
      run: async (_session, tag) => ({
        msg: 'Saved.',
        msgi18n: true,
        tag: await tags.change(toNumber(toRecord(tag)['id']), parseTag(tag)),
      }),
    },
    deleteTag: {
      needs: 'write',
      async run(_session, id) {
        await tags.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    addMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        if (!tags.all.has(toNumber(tag))) throw new Problem('uptime.unknown_tag', 404, 'Tag not found');
        const monitor = monitors.get(toNumber(id));
        await setTags(monitor.id, [...getTags(monitor), { tag_id: toNumber(tag), value: toText(value) }]);
        return toTranslatedMessage('successAdded');
      },
    },
    editMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const monitor = monitors.get(toNumber(id));
        await setTags(
          monitor.id,
          getTags(monitor).map((one) => (one.tag_id === toNumber(tag) ? { ...one, value: toText(value) } : one)),
        );
        return toTranslatedMessage('successEdited');
      },
    },
    deleteMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const monitor = monitors.get(toNumber(id));
        const isMatch = (one: { tag_id: number; value: string }): boolean =>
          one.tag_id === toNumber(tag) && (value === undefined || one.value === toText(value));
        await setTags(
          monitor.id,
          getTags(monitor).filter((one) => !isMatch(one)),
        );
        return toTranslatedMessage('successDeleted');
      },
    },
  };
}

/** Returns all monitors by ID. */
export function monitorList(dependencies: SocketDependencies, session: Session): Record<string, unknown> {
  const { monitors, tags } = dependencies;
  const withSecrets = canWrite(dependencies, session);
  return Object.fromEntries(
    monitors.all().map((monitor) => [String(monitor.id), toKumaMonitor(monitor, monitors, tags.all, withSecrets)]),
  );
}

export function canWrite({ context }: SocketDependencies, { identity, signedIn }: Session): boolean {
  return signedIn && (identity === undefined || context.accounts.may(identity, 'uptime', 'write', '*'));
}

/** @throws Problem with the message of Uptime Kuma */
function parseConfig(input: unknown): MonitorConfig {
  const fields = Object.fromEntries(
    Object.entries(toRecord(input)).filter(([name, value]) => !derivedFields.includes(name) && value !== undefined),
  );
  const codes = fields['accepted_statuscodes'];
  if (!Array.isArray(codes) || !codes.every((code) => typeof code === 'string')) {
    throw new Problem('uptime.invalid', 400, 'Accepted status codes are not all strings');
  }
  const parsed = MonitorConfig.safeParse(fields);
  if (!parsed.success) throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
  return parsed.data;
}

function parseTag(input: unknown): { name: string; color: string } {
  const { name, color } = toRecord(input);
  const tagName = toText(name).trim().slice(0, 255);
  if (tagName === '') throw new Problem('uptime.invalid', 400, 'A tag needs a name');
  return { name: tagName, color: toText(color).slice(0, 50) || '#4B5563' };
}
