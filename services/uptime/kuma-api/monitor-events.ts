import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { listedBeat, peerMonitor, tagsOf } from '../wire/kuma-monitor.ts';
import type { Watched } from '../monitoring/monitor-state.ts';
import { numberOf, recordOf, said, textOf, type Session, type SocketEvents, type SocketParts } from './events.ts';

const hourMs = 3_600_000;
/** Derived fields, which cannot be set. */
const derived = [
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
export function monitorEvents(parts: SocketParts): SocketEvents {
  const { context, monitors, beats, recorder, figures, tags } = parts;
  const view = (watched: Watched, session: Session) =>
    peerMonitor(watched, monitors, tags.known, mayWrite(parts, session));
  const clear = async (work: (transaction: Kysely<any>) => Promise<void>, list: readonly Watched[]): Promise<void> => {
    await recorder.settled();
    await context.commit(work);
    for (const watched of list) {
      watched.hours.clear();
      watched.days.clear();
      watched.usual = undefined;
    }
  };
  const setTags = (id: number, list: readonly { readonly tag_id: number; readonly value: string }[]) =>
    monitors.change(id, { tags: list }, { merge: true, lenient: true });
  return {
    add: {
      needs: 'write',
      async run(_session, given) {
        const watched = await monitors.add(configOf(given), { lenient: true });
        return said('successAdded', { monitorID: watched.id });
      },
    },
    editMonitor: {
      needs: 'write',
      async run(_session, given) {
        const id = numberOf(recordOf(given)['id']);
        const { tags: kept } = monitors.get(id).config;
        const config = configOf(given);
        await monitors.change(
          id,
          { ...config, ...(kept === undefined ? {} : { tags: kept }) },
          { merge: false, lenient: true },
        );
        return { msg: 'Saved.', msgi18n: true, monitorID: id };
      },
    },
    getMonitor: { needs: 'read', run: (session, id) => ({ monitor: view(monitors.get(numberOf(id)), session) }) },
    getMonitorList: {
      needs: 'read',
      run(session) {
        session.emit('monitorList', monitorList(parts, session));
        return {};
      },
    },
    pauseMonitor: {
      needs: 'write',
      async run(_session, id) {
        await monitors.setActive(numberOf(id), false);
        return said('successPaused');
      },
    },
    resumeMonitor: {
      needs: 'write',
      async run(_session, id) {
        await monitors.setActive(numberOf(id), true);
        return said('successResumed');
      },
    },
    deleteMonitor: {
      needs: 'write',
      async run(_session, id, children) {
        await monitors.remove(numberOf(id), { children: children === true });
        return said('successDeleted');
      },
    },
    getMonitorBeats: {
      needs: 'read',
      async run(_session, id, hours) {
        await recorder.settled();
        const from = context.clock.now() - Math.min(8784, Math.max(0, Number(hours) || 0)) * hourMs;
        return { data: (await beats.since(monitors.get(numberOf(id)).id, from)).map(listedBeat) };
      },
    },
    getMonitorChartData: {
      needs: 'read',
      async run(_session, id, hours) {
        const wanted = Math.min(8784, Math.max(1, numberOf(hours)));
        const points = await figures.chart(monitors.get(numberOf(id)), wanted);
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
        return { count: await beats.countImportant(id === null || id === undefined ? undefined : numberOf(id)) };
      },
    },
    monitorImportantHeartbeatListPaged: {
      needs: 'read',
      async run(_session, id, offset, count) {
        await recorder.settled();
        const which = id === null || id === undefined ? undefined : numberOf(id);
        const list = await beats.important(
          which,
          Math.max(0, numberOf(offset)),
          Math.min(1000, Math.max(1, numberOf(count))),
        );
        return { data: list.map(listedBeat) };
      },
    },
    clearEvents: {
      needs: 'write',
      async run(_session, id) {
        const which = monitors.get(numberOf(id)).id;
        await recorder.settled();
        await context.commit((transaction) => beats.forgetImportant(transaction, which));
        return {};
      },
    },
    clearHeartbeats: {
      needs: 'write',
      async run(_session, id) {
        const watched = monitors.get(numberOf(id));
        await clear((transaction) => beats.clear(transaction, watched.id), [watched]);
        return {};
      },
    },
    clearStatistics: {
      needs: 'write',
      async run() {
        await clear(async (transaction) => {
          await beats.clear(transaction, undefined);
          await parts.buckets.clear(transaction);
        }, monitors.all());
        return {};
      },
    },
    getTags: { needs: 'read', run: () => ({ tags: [...tags.known.values()] }) },
    addTag: { needs: 'write', run: async (_session, tag) => ({ tag: await tags.add(tagOf(tag)) }) },
    editTag: {
      needs: 'write',
      run: async (_session, tag) => ({
        msg: 'Saved.',
        msgi18n: true,
        tag: await tags.change(numberOf(recordOf(tag)['id']), tagOf(tag)),
      }),
    },
    deleteTag: {
      needs: 'write',
      async run(_session, id) {
        await tags.remove(numberOf(id));
        return said('successDeleted');
      },
    },
    addMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        if (!tags.known.has(numberOf(tag))) throw new Problem('uptime.unknown_tag', 404, 'Tag not found');
        const watched = monitors.get(numberOf(id));
        await setTags(watched.id, [...tagsOf(watched), { tag_id: numberOf(tag), value: textOf(value) }]);
        return said('successAdded');
      },
    },
    editMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const watched = monitors.get(numberOf(id));
        await setTags(
          watched.id,
          tagsOf(watched).map((one) => (one.tag_id === numberOf(tag) ? { ...one, value: textOf(value) } : one)),
        );
        return said('successEdited');
      },
    },
    deleteMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const watched = monitors.get(numberOf(id));
        const isIt = (one: { tag_id: number; value: string }): boolean =>
          one.tag_id === numberOf(tag) && (value === undefined || one.value === textOf(value));
        await setTags(
          watched.id,
          tagsOf(watched).filter((one) => !isIt(one)),
        );
        return said('successDeleted');
      },
    },
  };
}

/** Returns all monitors by ID. */
export function monitorList(parts: SocketParts, session: Session): Record<string, unknown> {
  const { monitors, tags } = parts;
  const withSecrets = mayWrite(parts, session);
  return Object.fromEntries(
    monitors.all().map((watched) => [String(watched.id), peerMonitor(watched, monitors, tags.known, withSecrets)]),
  );
}

export function mayWrite({ context }: SocketParts, { identity, signedIn }: Session): boolean {
  return signedIn && (identity === undefined || context.accounts.may(identity, 'uptime', 'write', '*'));
}

/** @throws Problem with the message of Uptime Kuma */
function configOf(given: unknown): MonitorConfig {
  const fields = Object.fromEntries(
    Object.entries(recordOf(given)).filter(([name, value]) => !derived.includes(name) && value !== undefined),
  );
  const codes = fields['accepted_statuscodes'];
  if (!Array.isArray(codes) || !codes.every((code) => typeof code === 'string')) {
    throw new Problem('uptime.invalid', 400, 'Accepted status codes are not all strings');
  }
  const parsed = MonitorConfig.safeParse(fields);
  if (!parsed.success) throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
  return parsed.data;
}

function tagOf(given: unknown): { name: string; color: string } {
  const { name, color } = recordOf(given);
  const words = textOf(name).trim().slice(0, 255);
  if (words === '') throw new Problem('uptime.invalid', 400, 'A tag needs a name');
  return { name: words, color: textOf(color).slice(0, 50) || '#4B5563' };
}
