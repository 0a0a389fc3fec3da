import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { syncApi } from '../../contracts/sync/api.ts';
import { commandIn } from '../domain/commands.ts';
import { hidden, looksSecret, redacted } from '../domain/redact.ts';
import { errorOf, type Engine, type EngineAnswer } from '../engine/engine.ts';
import { changeRemote, remoteOf } from '../engine/remote-change.ts';
import type { RemoteSetups } from '../engine/remote-setup.ts';
import { providersOf, type EngineProvider } from './providers.ts';

const shownFields = ['host', 'url', 'provider', 'remote', 'user', 'account', 'region'];

/** Remotes as forms. Their secrets go into the engine's encrypted file and never come back. */
export function remoteHandlers({
  engine,
  setups,
}: {
  readonly engine: () => Engine;
  readonly setups: RemoteSetups;
}): readonly ApiHandler[] {
  const ask = async (path: string, input: object): Promise<EngineAnswer['body']> => {
    const { status, body } = await engine().call(path, input);
    if (status === 200) return body;
    throw new Problem('sync.remote', 422, `rclone says: ${errorOf(body)}.`);
  };
  const dump = async (): Promise<Record<string, Record<string, string>>> =>
    redacted(await ask('config/dump', {})) as Record<string, Record<string, string>>;
  return [
    implement(syncApi.remotes, async () => ({
      remotes: Object.entries(await dump())
        .map(([name, section]) => ({
          ...{ name, type: section['type'] ?? '' },
          summary: shownFields.flatMap((field) => section[field] ?? []).join(' · '),
          isBeingSetUp: setups.isOpen(name),
        }))
        .toSorted((a, b) => a.name.localeCompare(b.name)),
    })),
    implement(syncApi.providers, async () => {
      const { providers } = await ask('config/providers', {});
      return { providers: providersOf(Array.isArray(providers) ? (providers as EngineProvider[]) : []) };
    }),
    implement(syncApi.addRemote, async ({ body: { name, type, parameters } }) => {
      const command = commandIn(parameters);
      if (command !== undefined) throw commands(`parameters.${command}`);
      if (Object.hasOwn(await dump(), name)) {
        const detail = 'There is a remote of this name.';
        throw new Problem('sync.exists', 409, detail, { fields: { name: detail } });
      }
      return await setups.begin(name, type, parameters);
    }),
    implement(syncApi.remote, async ({ params: { name = '' } }) => {
      const { type = '', ...fields } = await remoteOf(ask, name);
      const secrets = Object.keys(fields).filter((field) => looksSecret(field) && fields[field] !== '');
      const shown = Object.entries(fields).filter(([field]) => !looksSecret(field));
      return { name, type, values: redacted(Object.fromEntries(shown)) as Record<string, string>, secrets };
    }),
    implement(syncApi.changeRemote, async ({ params: { name = '' }, body: { parameters } }) => {
      if (setups.isOpen(name)) throw new Problem('sync.busy', 409, 'It is being set up. Finish that first.');
      const command = commandIn(parameters);
      if (command !== undefined) throw commands(`parameters.${command}`);
      if (Object.hasOwn(parameters, 'type')) {
        const detail = 'A remote stays of its kind.';
        throw new Problem('sync.invalid', 422, detail, { fields: { 'parameters.type': detail } });
      }
      const unseen = Object.entries(parameters).find(([, value]) => value.includes(`//${hidden}@`));
      if (unseen !== undefined) {
        const detail = `Write the sign-in in this address again: ${hidden} stands in its place.`;
        throw new Problem('sync.invalid', 422, detail, { fields: { [`parameters.${unseen[0]}`]: detail } });
      }
      await changeRemote(ask, name, parameters);
      return { ok: true as const };
    }),
    implement(syncApi.remoteSetup, async ({ params }) => setups.step(params['name'] ?? '')),
    implement(syncApi.answerRemote, async ({ params, body: { answer } }) => {
      if (commandIn(answer) !== undefined) throw commands('answer');
      return await setups.answer(params['name'] ?? '', answer);
    }),
    implement(syncApi.giveUpRemote, async ({ params }) => {
      await setups.giveUp(params['name'] ?? '');
      return { ok: true as const };
    }),
    implement(syncApi.removeRemote, async ({ params }) => {
      await setups.forget(params['name'] ?? '');
      return { ok: true as const };
    }),
  ];
}

function commands(field: string): Problem {
  const detail = 'Options that run a program are not taken.';
  return new Problem('sync.invalid', 422, detail, { fields: { [field]: detail } });
}
