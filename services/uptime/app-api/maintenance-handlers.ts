import { implement, type ApiHandler } from '../../contracts/api.ts';
import { maintenanceApi } from '../../contracts/uptime/maintenance.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';

const success = { ok: true } as const;

/** Returns the handlers for maintenance windows. */
export function createMaintenanceHandlers(maintenances: Maintenances): readonly ApiHandler[] {
  const parseId = (params: Readonly<Record<string, string>>): number => Number(params['id']);
  return [
    implement(maintenanceApi.list, () => ({ items: [...maintenances.all()] })),
    implement(maintenanceApi.add, ({ body }) => maintenances.add(body)),
    implement(maintenanceApi.one, ({ params }) => maintenances.get(parseId(params))),
    implement(maintenanceApi.change, ({ params, body }) => maintenances.change(parseId(params), body)),
    implement(maintenanceApi.remove, async ({ params }) => {
      await maintenances.remove(parseId(params));
      return success;
    }),
    implement(maintenanceApi.pause, async ({ params }) => {
      await maintenances.change(parseId(params), { active: false });
      return success;
    }),
    implement(maintenanceApi.resume, async ({ params }) => {
      await maintenances.change(parseId(params), { active: true });
      return success;
    }),
  ];
}
