import { implement, type ApiHandler } from '../../contracts/api.ts';
import { maintenanceApi } from '../../contracts/uptime/maintenance.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';

const done = { ok: true } as const;

/** Returns the handlers for maintenance windows. */
export function maintenanceHandlers(maintenances: Maintenances): readonly ApiHandler[] {
  const idOf = (params: Readonly<Record<string, string>>): number => Number(params['id']);
  return [
    implement(maintenanceApi.list, () => ({ items: [...maintenances.all()] })),
    implement(maintenanceApi.add, ({ body }) => maintenances.add(body)),
    implement(maintenanceApi.one, ({ params }) => maintenances.get(idOf(params))),
    implement(maintenanceApi.change, ({ params, body }) => maintenances.change(idOf(params), body)),
    implement(maintenanceApi.remove, async ({ params }) => {
      await maintenances.remove(idOf(params));
      return done;
    }),
    implement(maintenanceApi.pause, async ({ params }) => {
      await maintenances.change(idOf(params), { active: false });
      return done;
    }),
    implement(maintenanceApi.resume, async ({ params }) => {
      await maintenances.change(idOf(params), { active: true });
      return done;
    }),
  ];
}
