import * as m from '#messages/host-problems';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Service, ServiceDescriptor, ImportResult } from '../../../services/contracts/service.ts';
import type { Portable } from '../accounts/portable.ts';
import type { Kernel } from '../kernel.ts';
import { openServiceContext } from '../services/service-context.ts';

interface PortableParts {
  readonly accounts: Portable;
  /** Keyed by id. */
  readonly services: ReadonlyMap<string, Service>;
}

/**
 * Creates services without starting them: sufficient to read and write their data, whether or not they are enabled.
 * @throws Problem that names the service whose data cannot be opened.
 */
async function openUnstarted(
  { accounts, config, parts }: Kernel,
  descriptors: readonly ServiceDescriptor[],
): Promise<AsyncDisposable & PortableParts> {
  await using opening = new AsyncDisposableStack();
  const services = new Map<string, Service>();
  for (const descriptor of descriptors) {
    const settings = config.read().services[descriptor.id];
    if (descriptor.capabilities?.includes('controlHost') === true || settings === undefined) continue;
    try {
      const { context } = opening.use(await openServiceContext(descriptor, parts));
      services.set(descriptor.id, opening.use(await descriptor.create(context, settings.settings)));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const detail = (): string => m.withService({ service: descriptor.id, reason: error.detail });
      throw new Problem(error.code, error.status, detail, { cause: error });
    }
  }
  const resources = opening.move();
  return { accounts, services, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Exports everything in addition to settings: the accounts, and the data of each service by its id. */
export async function exportPortable(
  kernel: Kernel,
  descriptors: readonly ServiceDescriptor[],
  options: { readonly secrets: boolean },
): Promise<Record<string, unknown>> {
  await using opened = await openUnstarted(kernel, descriptors);
  const parts: Record<string, unknown> = { accounts: await opened.accounts.exportAccounts(options) };
  for (const [id, { portable }] of opened.services) {
    if (portable !== undefined) parts[id] = await portable.export(options);
  }
  return parts;
}

/**
 * Replaces the existing data by the parts, one after another; the services must not be running.
 * @throws Problem with `fields` when a part is invalid. An unknown part prevents the whole import; before an invalid
 * part, earlier ones have been imported, as the message states.
 */
export async function importPortable(
  parts: Readonly<Record<string, unknown>>,
  kernel: Kernel,
  descriptors: readonly ServiceDescriptor[],
): Promise<void> {
  const ids = Object.keys(parts);
  await using opened = await openUnstarted(
    kernel,
    descriptors.filter(({ id }) => ids.includes(id)),
  );
  const { accounts, services } = opened;
  const unknownParts = ids.find((id) => id !== 'accounts' && services.get(id)?.portable === undefined);
  if (unknownParts !== undefined) {
    throw new Problem('config.invalid', 422, () => m.portablePartUnknown({ part: unknownParts }));
  }
  for (const [index, id] of ids.entries()) {
    try {
      if (id === 'accounts') await accounts.importAccounts(parts[id]);
      else await services.get(id)?.portable?.import(parts[id]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const [field, fieldReason] = Object.entries(error.fields)[0] ?? [];
      const parts = ids.slice(0, index).join(', ');
      const detail = (): string => {
        const reason = field === undefined ? error.detail : `${error.detail} ${formatField(field, fieldReason)}`;
        return index === 0
          ? m.portablePartFailed({ part: id, reason })
          : m.portablePartFailedAfter({ part: id, reason, parts });
      };
      throw new Problem(error.code, error.status, detail, {
        cause: error,
        fields: error.fields,
      });
    }
  }
}

/** Formats the problem of a field; an empty field is the whole value. */
function formatField(field: string, reason = ''): string {
  return field === '' ? reason : m.fieldInvalid({ field, reason });
}

/**
 * Imports another program's data into the service whose manifest names it; the services must not be running. Returns
 * the id of the service as well.
 * @throws Problem as the service does.
 */
export async function importProgramInto(
  kernel: Kernel,
  descriptors: readonly ServiceDescriptor[],
  from: { readonly program: string; readonly folder: string; readonly dryRun: boolean },
): Promise<ImportResult & { readonly service: string }> {
  const names = ({ importSources: sources = [] }: ServiceDescriptor): boolean =>
    sources.some((each) => each.program === from.program);
  const id = descriptors.find(names)?.id ?? '';
  await using opened = await openUnstarted(
    kernel,
    descriptors.filter((descriptor) => descriptor.id === id),
  );
  const importData = opened.services.get(id)?.importData;
  if (importData === undefined)
    throw new Problem('command.no_service', 404, m.importProgramUnknown({ program: from.program }));
  return { ...(await importData(from.program, from.folder, { dryRun: from.dryRun })), service: id };
}
