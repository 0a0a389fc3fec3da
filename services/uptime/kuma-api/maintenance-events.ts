import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import { peerMaintenance } from '../wire/kuma-maintenance.ts';
import { numberOf, recordOf, said, type SocketEvents, type SocketParts } from './events.ts';

/** Returns the calls for maintenance windows. */
export function maintenanceEvents(parts: SocketParts): SocketEvents {
  const { maintenances, monitors, pages } = parts;
  const idsOf = (list: unknown): readonly number[] =>
    (Array.isArray(list) ? (list as readonly unknown[]) : [])
      .map((one) => numberOf(recordOf(one)['id']))
      .filter((id) => id > 0);
  return {
    addMaintenance: {
      needs: 'write',
      async run(_session, given) {
        const parsed = MaintenanceConfig.safeParse(given);
        if (!parsed.success) throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
        return said('successAdded', { maintenanceID: (await maintenances.add(parsed.data)).id });
      },
    },
    editMaintenance: {
      needs: 'write',
      async run(_session, given) {
        const { id, ...fields } = recordOf(given);
        const changed = await maintenances.change(numberOf(id), fields);
        return { msg: 'Saved.', msgi18n: true, maintenanceID: changed.id };
      },
    },
    getMaintenance: {
      needs: 'read',
      run: (_session, id) => ({ maintenance: peerMaintenance(maintenances.get(numberOf(id))) }),
    },
    getMaintenanceList: {
      needs: 'read',
      run(session) {
        session.emit('maintenanceList', maintenanceList(parts));
        return {};
      },
    },
    deleteMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.remove(numberOf(id));
        return said('successDeleted');
      },
    },
    pauseMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.change(numberOf(id), { active: false });
        return said('successPaused');
      },
    },
    resumeMaintenance: {
      needs: 'write',
      async run(_session, id) {
        await maintenances.change(numberOf(id), { active: true });
        return said('successResumed');
      },
    },
    addMonitorMaintenance: {
      needs: 'write',
      async run(_session, id, list) {
        await maintenances.change(numberOf(id), { monitors: idsOf(list) });
        return said('successAdded');
      },
    },
    getMonitorMaintenance: {
      needs: 'read',
      run: (_session, id) => ({
        monitors: maintenances
          .get(numberOf(id))
          .monitors.flatMap((one) => monitors.find(one) ?? [])
          .map((watched) => ({ id: watched.id, name: watched.config.name })),
      }),
    },
    addMaintenanceStatusPage: {
      needs: 'write',
      async run(_session, id, list) {
        await maintenances.change(numberOf(id), { statusPages: idsOf(list) });
        return said('successAdded');
      },
    },
    getMaintenanceStatusPage: {
      needs: 'read',
      run(_session, id) {
        const { statusPages } = maintenances.get(numberOf(id));
        const found = pages.all().filter((page) => statusPages.includes(page.id));
        return { statusPages: found.map((page) => ({ id: page.id, title: page.config.title })) };
      },
    },
  };
}

/** Returns all maintenance windows by ID. */
export function maintenanceList({ maintenances }: SocketParts): Record<string, unknown> {
  return Object.fromEntries(maintenances.all().map((one) => [String(one.id), peerMaintenance(one)]));
}
