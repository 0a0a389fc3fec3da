import * as m from '#messages/control-problems';
import { FileReply, implement, type ApiHandler } from '../contracts/api.ts';
import { controlApi } from '../contracts/control/api.ts';
import { toVisibleService } from '../contracts/control/visible-service.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import type { Identity } from '../contracts/control/accounts.ts';
import { Problem } from '../contracts/problem.ts';
import { formatSessionLink } from '../contracts/session.ts';
import { accessRoutes } from './access.ts';
import type { LiveEvents } from './events.ts';
import { currentAccountRoutes } from './current-account.ts';
import { oneTimeLinkRoutes } from './one-time-links.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { SessionReplies } from './session-reply.ts';

const success = { ok: true } as const;

/** Routes of the app API for the host. */
export function controlRoutes(context: ControlContext, events: LiveEvents): readonly ApiHandler[] {
  return [
    ...sessionRoutes(context, events),
    ...hostRoutes(context),
    ...engineRoutes(context),
    ...backupRoutes(context),
    ...jobRoutes(context),
    ...accountRoutes(context),
    ...accessRoutes(context),
    ...currentAccountRoutes(context),
    ...secondFactorRoutes(context),
  ];
}

function sessionRoutes(context: ControlContext, events: LiveEvents): readonly ApiHandler[] {
  const { host, accounts } = context;
  const { describeIdentity, endFormer, signIn } = new SessionReplies(accounts);
  return [
    implement(controlApi.session, async ({ identity }) => ({
      account: identity ? await describeIdentity(identity) : null,
      setupNeeded: await host.firstRun.needed(),
      safeMode: host.safeMode,
      version: host.version,
      platform: identity ? host.platform : null,
    })),
    implement(controlApi.setup, async ({ body, remoteAddress, userAgent }) => {
      await host.firstRun.complete(body.code, body.name, body.password, remoteAddress);
      const client = { remoteAddress, userAgent, forEnrollment: true };
      const { identity, secret } = await accounts.signIn(body.name, body.password, client);
      return { session: secret, needsEnrollment: identity.needsEnrollment };
    }),
    implement(controlApi.signIn, (request) => signIn(request.body, request)),
    ...oneTimeLinkRoutes({ context, signIn }),
    implement(controlApi.secondStep, async ({ identity: former, body, origin = '', remoteAddress, userAgent }) => {
      const { ticket, code = '', passkey } = body;
      const proof = passkey === undefined ? { code } : { passkey, origin };
      const { identity, secret } = await accounts.factors.complete(ticket, proof, { remoteAddress, userAgent });
      await endFormer(former);
      return { ...(await describeIdentity(identity)), session: secret };
    }),
    implement(controlApi.signOut, async (request) => {
      const caller = requireIdentity(request.identity);
      // Pages and files of the account must not remain in the cache of a shared browser.
      request.addHeader('Clear-Site-Data', '"cache"');
      await accounts.signOut(caller);
      // Only streams of the session end; a program with a token keeps its own.
      if (caller.via === 'session') events.endSession(caller);
      return success;
    }),
    implement(controlApi.links, ({ identity, body }) => {
      const caller = requireIdentity(identity);
      return { links: body.paths.map((path) => formatSessionLink({ path, text: accounts.link(caller, path) })) };
    }),
  ];
}

/** Maximum number of events on Home. */
const maxActivity = 8;

/** Returns the handlers of services, settings, the log and the report. */
function hostRoutes({ host, accounts }: ControlContext): readonly ApiHandler[] {
  return [
    implement(controlApi.services, async ({ rights }) => ({
      services: (await host.services()).map((service) => toVisibleService(service, rights)),
      configProblems: rights.all ? [...host.configProblems()] : [],
    })),
    implement(controlApi.overview, async ({ identity, rights }) => ({
      pulses: (await host.pulses()).filter(({ service }) => rights.all || rights.may(service, 'read', '*')),
      activity: [...(await host.recentActivity({ identity, rights, limit: maxActivity }))],
      machine: rights.all ? await host.machine() : null,
      backup: rights.all ? await host.backups.getAge() : null,
    })),
    implement(controlApi.restart, async ({ params }) => {
      const id = params['id'] ?? '';
      if (!(await host.services()).some((service) => service.id === id)) {
        throw new Problem('control.unknown_service', 404, m.serviceNotFound({ service: id }));
      }
      return host.restart(id);
    }),
    implement(controlApi.replaceKey, ({ params }) => host.replaceKey(params['id'] ?? '', params['name'] ?? '')),
    implement(controlApi.settings, () => host.settings()),
    implement(controlApi.changeSettings, async ({ params, body }) => {
      const section = params['section'] ?? '';
      const { restarted, pending } = await host.changeSettings(section, body);
      accounts.record({ event: 'settings_changed', detail: `${section}: ${Object.keys(body).join(', ')}` });
      return { restarted: [...restarted], ...(pending.length === 0 ? {} : { pending: [...pending] }) };
    }),
    implement(controlApi.hosts, () => host.hosts()),
    implement(controlApi.report, async () => ({ text: await host.report() })),
    implement(controlApi.log, ({ query: { level, service, text, before, cursor, limit } }) =>
      host.log({
        limit,
        ...(before === undefined ? {} : { before }),
        ...(cursor === undefined ? {} : { cursor }),
        ...(level === undefined ? {} : { level }),
        ...(service === undefined ? {} : { service }),
        ...(text === undefined ? {} : { text }),
      }),
    ),
  ];
}

function engineRoutes({ host }: ControlContext): readonly ApiHandler[] {
  return [
    implement(controlApi.engines, async () => ({ engines: [...(await host.engines())] })),
    implement(controlApi.installEngine, ({ params, query }) =>
      host.installEngine(params['name'] ?? '', { wait: query.wait === 'true' }),
    ),
    implement(controlApi.verifyEngine, ({ params }) => host.verifyEngine(params['name'] ?? '')),
    implement(controlApi.removeEngine, ({ params }) => host.removeEngine(params['name'] ?? '')),
  ];
}

function backupRoutes({ host, accounts }: ControlContext): readonly ApiHandler[] {
  return [
    implement(controlApi.backups, async () => ({
      folder: host.backups.folder(),
      backups: [...(await host.backups.list())],
      isOld: (await host.backups.getAge()).isOld,
      setAside: [...(await host.backups.setAside())],
    })),
    implement(controlApi.takeBackup, ({ incoming }) => {
      if (incoming === undefined) throw new Problem('backup.damaged', 422, m.backupEmpty());
      return host.backups.receive(incoming);
    }),
    implement(controlApi.backupContents, ({ params }) => host.backups.contents(params['name'] ?? '')),
    implement(controlApi.restoreBackup, async ({ params }) => {
      await host.backups.restore(params['name'] ?? '');
      accounts.record({ event: 'backup_restored', detail: params['name'] });
      return success;
    }),
    implement(controlApi.putBack, async ({ params }) => {
      await host.backups.restoreSetAside(params['name'] ?? '');
      return success;
    }),
    implement(controlApi.removeSetAside, async ({ params }) => {
      await host.backups.removeSetAside(params['name'] ?? '');
      return success;
    }),
    implement(controlApi.backupFile, async ({ params }) => {
      const name = params['name'] ?? '';
      const path = await host.backups.getPath(name);
      accounts.record({ event: 'backup_downloaded', detail: name });
      return new FileReply({ path, type: 'application/gzip', saveAs: name });
    }),
    implement(controlApi.makeBackup, async () => {
      const backup = await host.backups.create();
      accounts.record({ event: 'backup_created', detail: backup.name });
      return backup;
    }),
    implement(controlApi.removeBackup, async ({ params }) => {
      await host.backups.remove(params['name'] ?? '');
      return success;
    }),
  ];
}

function jobRoutes({ host }: ControlContext): readonly ApiHandler[] {
  const toSuccess = (exists: boolean): typeof success => {
    if (!exists) throw new Problem('jobs.unknown', 404, m.jobMissing());
    return success;
  };
  return [
    implement(controlApi.deadJobs, async () => ({ jobs: [...(await host.deadJobs())] })),
    implement(controlApi.retryJob, async ({ params }) =>
      toSuccess(await host.retryJob(params['service'] ?? '', params['id'] ?? '')),
    ),
    implement(controlApi.dropJob, async ({ params }) =>
      toSuccess(await host.dropJob(params['service'] ?? '', params['id'] ?? '')),
    ),
  ];
}

function accountRoutes({ accounts, host }: ControlContext): readonly ApiHandler[] {
  return [
    implement(controlApi.accounts, async () => ({ accounts: [...(await accounts.list())] })),
    implement(controlApi.createAccount, async ({ body }) => {
      if (body.password !== undefined) await accounts.refuseWeakPassword(body.name, body.password);
      return accounts.create(withoutUndefined(body));
    }),
    implement(controlApi.changeAccount, async ({ params, body }) => {
      const name = params['name'] ?? '';
      if (body.password !== undefined) await accounts.refuseWeakPassword(name, body.password);
      return accounts.change(name, withoutUndefined(body));
    }),
    implement(controlApi.accountData, async ({ params }) => ({
      data: [...(await host.accountData(await requireAccountName(accounts, params['name'])))],
    })),
    implement(controlApi.removeAccount, async ({ params, query: { data = 'keep', to } }) => {
      const name = params['name'] ?? '';
      await accounts.remove(name, data === 'transfer' ? { action: data, to: to ?? '' } : { action: data });
      return success;
    }),
    implement(controlApi.endSessions, async ({ params }) => ({
      ended: await host.endSessions(params['name'] ?? ''),
    })),
    implement(controlApi.tokens, async ({ params }) => {
      const name = await requireAccountName(accounts, params['name']);
      return { tokens: [...(await accounts.tokens(name))] };
    }),
    implement(controlApi.createToken, async ({ params, body }) =>
      accounts.createToken(await requireAccountName(accounts, params['name']), body),
    ),
    implement(controlApi.removeToken, async ({ params }) => {
      await accounts.removeToken(await requireAccountName(accounts, params['name']), params['id'] ?? '');
      return success;
    }),
  ];
}

async function requireAccountName(accounts: ControlContext['accounts'], name = ''): Promise<string> {
  const account = await accounts.find(name);
  if (!account) throw new Problem('accounts.unknown', 404, m.accountNotFound({ name }));
  return account.name;
}

/** Removes undefined fields: under exactOptionalPropertyTypes they differ from absent ones. */
function withoutUndefined<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}

function requireIdentity(identity: Identity | undefined): Identity {
  if (!identity) throw new Problem('accounts.sign_in', 401, m.signInNeeded());
  return identity;
}
