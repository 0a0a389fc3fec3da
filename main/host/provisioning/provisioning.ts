import * as m from '#messages/host-problems';
import { readSecret } from '../config/secret-files.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { HostAccounts } from '../accounts/accounts.ts';
import type { Kernel } from '../kernel.ts';
import { importPortable } from './portable.ts';

/**
 * Applies the accounts and data of services from the file that HOMEPORT_CONFIG names, once per version, before any
 * service starts.
 * @throws Problem when they are invalid: starting without the administrator's configuration would be worse than not
 * starting.
 */
export async function applyProvision(kernel: Kernel, descriptors: readonly ServiceDescriptor[]): Promise<void> {
  const { provision } = kernel.config;
  if (provision === undefined) return;
  try {
    await importPortable(provision.portable, kernel, descriptors);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, error.status, () => m.provisionFailed({ reason: error.detail }), {
      cause: error,
      fields: error.fields,
    });
  }
  await provision.done();
}

/**
 * Creates the accounts, grants and tokens that homeport.yaml declares. Failures are logged and do not prevent the
 * start.
 */
export async function applyDeclared({ accounts, config }: Kernel, log: Log): Promise<void> {
  try {
    await accounts.declare(config.read().host);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.error('declared accounts creation failed', { reason: error.detail });
  }
}

/** Minimum length of a password from the environment, in characters. */
const minProvisionedLength = 8;

/**
 * Creates the first administrator of a server from HOMEPORT_ADMIN_USER and HOMEPORT_ADMIN_PASSWORD. Existing
 * deployments must continue to start, so a password that pages would refuse is used with a warning.
 * @throws Problem `host.administrator` (422)
 */
export async function makeAdministrator(
  accounts: HostAccounts,
  environment: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<void> {
  const name = environment['HOMEPORT_ADMIN_USER'];
  const password = readSecret(environment, 'HOMEPORT_ADMIN_PASSWORD');
  if (name === undefined && password === undefined) return;
  if (!name || !password) {
    throw buildRefusedProblem(m.administratorVariables);
  }
  if (!accounts.firstRun.needed()) return;
  try {
    await accounts.refuseWeakPassword(name, password);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (password.length < minProvisionedLength)
      throw buildRefusedProblem(() => m.administratorPassword({ reason: error.detail }));
    log.warn('weak administrator password accepted', { account: name, reason: error.detail });
  }
  try {
    await accounts.firstRun.ensureAdministrator(name, password);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    throw buildRefusedProblem(() => m.administratorName({ reason: error.detail }));
  }
}

function buildRefusedProblem(detail: () => string): Problem {
  return new Problem('host.administrator', 422, detail);
}
