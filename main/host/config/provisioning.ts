import { Problem } from '../../../services/contracts/problem.ts';
import type { Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { HostAccounts } from '../accounts/accounts.ts';
import type { Kernel } from '../kernel.ts';
import { importPortable } from '../cli/portable.ts';

/**
 * Applies the accounts and services' data of the file that HOMEPORT_CONFIG names, once for each of its versions, before
 * any service starts.
 * @throws Problem when they do not fit: starting without what the administrator asked for would be worse than not starting.
 */
export async function applyProvision(kernel: Kernel, descriptors: readonly ServiceDescriptor[]): Promise<void> {
  const { provision } = kernel.config;
  if (provision === undefined) return;
  try {
    await importPortable(provision.portable, kernel, descriptors);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, error.status, `HOMEPORT_CONFIG: ${error.detail}`, {
      cause: error,
      fields: error.fields,
    });
  }
  await provision.done();
}

/** Makes the accounts, grants and tokens that homeport.yaml declares. One that cannot be is told in the log: the app starts all the same. */
export async function applyDeclared({ accounts, config }: Kernel, log: Log): Promise<void> {
  try {
    await accounts.declare(config.read().host);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.error('declared accounts could not be made', { reason: error.detail });
  }
}

const minProvisionedLength = 8;

/**
 * Creates the first administrator of a server from HOMEPORT_ADMIN_USER and HOMEPORT_ADMIN_PASSWORD. Existing deployments
 * must keep starting, so a password that is weaker than pages accept is taken with a warning.
 *
 * @throws Problem `host.administrator` (422)
 */
export async function makeAdministrator(
  accounts: HostAccounts,
  environment: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<void> {
  const name = environment['HOMEPORT_ADMIN_USER'];
  const password = environment['HOMEPORT_ADMIN_PASSWORD'];
  if (name === undefined && password === undefined) return;
  if (!name || !password) {
    throw refused('Set both HOMEPORT_ADMIN_USER and HOMEPORT_ADMIN_PASSWORD, or neither.');
  }
  if (!accounts.firstRun.needed()) return;
  try {
    accounts.refuseWeakPassword(name, password);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (password.length < minProvisionedLength) throw refused(`HOMEPORT_ADMIN_PASSWORD: ${error.detail}`);
    log.warn('administrator password is weak', { account: name, reason: error.detail });
  }
  try {
    await accounts.firstRun.ensureAdministrator(name, password);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    throw refused(`HOMEPORT_ADMIN_USER: ${error.detail}`);
  }
}

function refused(detail: string): Problem {
  return new Problem('host.administrator', 422, detail);
}
