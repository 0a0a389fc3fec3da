import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import { toKumaMaintenance } from '../wire/kuma-maintenance.ts';
import { toNumber, toRecord, toTranslatedMessage, type SocketEvents, type SocketDependencies } from './events.ts';

/** Returns the calls for maintenance windows. */
export function maintenanceEvents(dependencies: SocketDependencies): SocketEvents {
  const { maintenances } = dependencies.monitoring;
  return {
    addMaintenance: {
      needs: 'write',
      async run(_session, input) {
        const parsed = MaintenanceConfig.safeParse(input);
        if (!parsed.success) throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
        return toTranslatedMessage('successAdded', { maintenanceID: (await maintenances.add(parsed.data)).id });
      },
    },
    editMaintenance: {
      needs: 'write',
      async run(_session, input) {
        const { id, ...fields } = toRecord(input);
        const changed = await maintenances.change(toNumber(id), fields);
        return { msg: 'Saved.', msgi18n: true, maintenanceID: changed.id };
      },
    },
    getMaintenance: {
      needs: 'read',
      run: (_session, id) => ({ maintenance: toKumaMaintenance(maintenances.get(toNumber(id))) }),
    },
    getMaintenanceList: {
      needs: 'read',
      run(session) {
        session.emit('maintenanceList', maintenanceList(dependencies.monitoring));
        return {};
      },
    },
    deleteMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    pauseMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.change(toNumber(id), { active: false });
        return toTranslatedMessage('successPaused');
      },
    },
    resumeMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.change(toNumber(id), { active: true });
        return toTranslatedMessage('successResumed');
      },
    },
  };
}

/** Returns the calls for the monitors and status pages of a maintenance window. */
export function maintenanceScopeEvents({
  monitoring: { maintenances, monitors },
  pages,
}: SocketDependencies): SocketEvents {
  return {
    addMonitorMaintenance: {
      needs: 'write',
      async run(_session, id, list) {
        await maintenances.change(toNumber(id), { monitors: toIds(list) });
        return toTranslatedMessage('successAdded');
      },
    },
    getMonitorMaintenance: {
      needs: 'read',
      run: (_session, id) => ({
        monitors: maintenances
          .get(toNumber(id))
          .monitors.flatMap((one) => monitors.find(one) ?? [])
          .map((monitor) => ({ id: monitor.id, name: monitor.config.name })),
      }),
    },
    addMaintenanceStatusPage: {
      needs: 'write',
      async run(_session, id, list) {
        await maintenances.change(toNumber(id), { statusPages: toIds(list) });
        return toTranslatedMessage('successAdded');
      },
    },
    getMaintenanceStatusPage: {
      needs: 'read',
      run(_session, id) {
        const { statusPages } = maintenances.get(toNumber(id));
        const matchingPages = pages.all().filter((page) => statusPages.includes(page.id));
        return { statusPages: matchingPages.map((page) => ({ id: page.id, title: page.config.title })) };
      },
    },
  };
}

/** Returns all maintenance windows by ID. */
export function maintenanceList({ maintenances }: Monitoring): Record<string, unknown> {
  return Object.fromEntries(maintenances.all().map((one) => [String(one.id), toKumaMaintenance(one)]));
}

/** Returns the positive IDs of a list of objects. */
function toIds(list: unknown): readonly number[] {
  return (Array.isArray(list) ? (list as readonly unknown[]) : [])
    .map((one) => toNumber(toRecord(one)['id']))
    .filter((id) => id > 0);
}
