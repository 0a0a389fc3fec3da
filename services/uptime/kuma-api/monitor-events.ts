import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { toKumaMonitor } from '../wire/kuma-monitor.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import {
  toNumber,
  toRecord,
  toTranslatedMessage,
  type Session,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';

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

/** Returns the calls for monitors. */
export function monitorEvents(dependencies: SocketDependencies): SocketEvents {
  const { monitors } = dependencies.monitoring;
  const { tags } = dependencies.stores;
  const view = (monitor: RuntimeMonitor, session: Session) =>
    toKumaMonitor(monitor, monitors, tags.all, canWrite(dependencies, session));
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
  };
}

/** Returns all monitors by ID. */
export function monitorList(dependencies: SocketDependencies, session: Session): Record<string, unknown> {
  const { monitors } = dependencies.monitoring;
  const { tags } = dependencies.stores;
  const withSecrets = canWrite(dependencies, session);
  return Object.fromEntries(
    monitors.all().map((monitor) => [String(monitor.id), toKumaMonitor(monitor, monitors, tags.all, withSecrets)]),
  );
}

export function canWrite({ context }: Pick<SocketDependencies, 'context'>, { identity, signedIn }: Session): boolean {
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
