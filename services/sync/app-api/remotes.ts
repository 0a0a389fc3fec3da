import * as m from '#messages/sync-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { compareNames } from '../../contracts/compare-names.ts';
import { Problem } from '../../contracts/problem.ts';
import { syncApi } from '../../contracts/sync/api.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { redactedValue, isSecretName, redact } from '../domain/redact.ts';
import type { Engine } from '../engine/engine.ts';
import { getErrorMessage, type EngineResponse } from '../engine/engine-client.ts';
import { changeRemote, getRemote } from '../engine/remote-change.ts';
import type { RemoteSetups } from '../engine/remote-setup.ts';
import { createRcloneProblem } from '../engine/rclone-problem.ts';
import { toProviders, type EngineProvider } from './providers.ts';

const summaryFields = ['host', 'url', 'provider', 'remote', 'user', 'account', 'region'];

/** Returns the handlers for remotes. Secrets are written to the engine's encrypted file and never returned. */
export function remoteHandlers({
  engine,
  setups,
}: {
  readonly engine: Engine;
  readonly setups: RemoteSetups;
}): readonly ApiHandler[] {
  const callEngine: EngineCall = async (path, input) => {
    const { status, body } = await engine.call(path, input);
    if (status === 200) return body;
    throw createRcloneProblem(getErrorMessage(body));
  };
  return [...listHandlers(callEngine, setups), ...changeHandlers(callEngine, setups), ...setupHandlers(setups)];
}

/** Calls the engine. @throws Problem `sync.remote` (422). */
type EngineCall = (path: string, input: object) => Promise<EngineResponse['body']>;

async function getRemotes(callEngine: EngineCall): Promise<Record<string, Record<string, string>>> {
  return redact(await callEngine('config/dump', {})) as Record<string, Record<string, string>>;
}

/** Returns the handlers that read remotes and their providers. */
function listHandlers(callEngine: EngineCall, setups: RemoteSetups): readonly ApiHandler[] {
  return [
    implement(syncApi.remotes, async () => ({
      remotes: Object.entries(await getRemotes(callEngine))
        .map(([name, section]) => ({
          name,
          type: section['type'] ?? '',
          summary: summaryFields.flatMap((field) => section[field] ?? []).join(' · '),
          isBeingSetUp: setups.isOpen(name),
        }))
        .toSorted((a, b) => compareNames(a.name, b.name)),
    })),
    implement(syncApi.providers, async () => {
      const { providers } = await callEngine('config/providers', {});
      return { providers: toProviders(Array.isArray(providers) ? (providers as EngineProvider[]) : []) };
    }),
    implement(syncApi.remote, async ({ params: { name = '' } }) => {
      const { type = '', ...fields } = await getRemote(callEngine, name);
      const secrets = Object.keys(fields).filter((field) => isSecretName(field) && fields[field] !== '');
      const visibleFields = Object.entries(fields).filter(([field]) => !isSecretName(field));
      return { name, type, values: redact(Object.fromEntries(visibleFields)) as Record<string, string>, secrets };
    }),
  ];
}

/** Returns the handlers that add, change and remove remotes. */
function changeHandlers(callEngine: EngineCall, setups: RemoteSetups): readonly ApiHandler[] {
  return [
    implement(syncApi.addRemote, async ({ body: { name, type, parameters } }) => {
      const command = findCommandOption(parameters);
      if (command !== undefined) throw commandProblem(`parameters.${command}`);
      if (Object.hasOwn(await getRemotes(callEngine), name)) {
        const detail = m.remoteExists();
        throw new Problem('sync.exists', 409, detail, { fields: { name: detail } });
      }
      return await setups.begin(name, type, parameters);
    }),
    implement(syncApi.changeRemote, async ({ params: { name = '' }, body: { parameters } }) => {
      if (setups.isOpen(name)) throw new Problem('sync.busy', 409, m.remoteInSetup());
      const command = findCommandOption(parameters);
      if (command !== undefined) throw commandProblem(`parameters.${command}`);
      if (Object.hasOwn(parameters, 'type')) {
        const detail = m.remoteTypeFixed();
        throw new Problem('sync.invalid', 422, detail, { fields: { 'parameters.type': detail } });
      }
      const placeholder = Object.entries(parameters).find(([, value]) => value.includes(`//${redactedValue}@`));
      if (placeholder !== undefined) {
        const detail = m.signInPlaceholder({ placeholder: redactedValue });
        throw new Problem('sync.invalid', 422, detail, { fields: { [`parameters.${placeholder[0]}`]: detail } });
      }
      await changeRemote(callEngine, name, parameters);
      return { ok: true as const };
    }),
    implement(syncApi.removeRemote, async ({ params }) => {
      await setups.remove(params['name'] ?? '');
      return { ok: true as const };
    }),
  ];
}

/** Returns the handlers for the steps in which a remote is set up. */
function setupHandlers(setups: RemoteSetups): readonly ApiHandler[] {
  return [
    implement(syncApi.remoteSetup, async ({ params }) => setups.step(params['name'] ?? '')),
    implement(syncApi.answerRemote, async ({ params, body: { answer } }) => {
      if (findCommandOption(answer) !== undefined) throw commandProblem('answer');
      return await setups.answer(params['name'] ?? '', answer);
    }),
    implement(syncApi.giveUpRemote, async ({ params }) => {
      await setups.cancel(params['name'] ?? '');
      return { ok: true as const };
    }),
  ];
}

function commandProblem(field: string): Problem {
  const detail = m.commandNotAllowed();
  return new Problem('sync.invalid', 422, detail, { fields: { [field]: detail } });
}
