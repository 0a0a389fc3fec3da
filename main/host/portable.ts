import { Problem } from '../../services/contracts/problem.ts';
import type { Service } from '../../services/contracts/service.ts';
import type { Portable } from './accounts/portable.ts';

interface PortableParts {
  readonly accounts: Portable;
  /** By service id; `service` is undefined while it does not run. */
  readonly runners: ReadonlyMap<string, { readonly service: Service | undefined }>;
}

/** What an export holds besides settings: the accounts, and what each service keeps, by its id. */
export async function exportPortable(
  { accounts, runners }: PortableParts,
  options: { readonly secrets: boolean },
): Promise<Record<string, unknown>> {
  const parts: Record<string, unknown> = { accounts: await accounts.exportAccounts(options) };
  for (const [id, { service }] of runners) {
    if (service?.portable !== undefined) parts[id] = await service.portable.export(options);
  }
  return parts;
}

/** @throws Problem with `fields` when a part does not fit; the parts before it were imported. */
export async function importPortable(
  parts: Readonly<Record<string, unknown>>,
  { accounts, runners }: PortableParts,
): Promise<void> {
  for (const [id, data] of Object.entries(parts)) {
    if (id === 'accounts') {
      await accounts.importAccounts(data);
      continue;
    }
    const portable = runners.get(id)?.service?.portable;
    if (portable === undefined) {
      throw new Problem('config.invalid', 422, `portable.${id}: there is no running service of that name to take it.`);
    }
    await portable.import(data);
  }
}
