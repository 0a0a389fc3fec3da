import * as m from '#messages/sync-problems';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { readTexts, type Text } from '../../contracts/text.ts';
import type { RemoteQuestion, RemoteStep } from '../../contracts/sync/remotes.ts';
import { findRcloneFailure } from '../domain/failure-cause.ts';
import type { Engine } from './engine.ts';
import { getErrorMessage, type EngineResponse } from './engine-client.ts';
import { createRcloneProblem, getRcloneMessage } from './rclone-problem.ts';
import { clearRemoteCache, checkRemote } from './remote-change.ts';

/** Time limit for the sign-in on a provider's page. */
const signInTimeoutMs = 15 * 60_000;
/** Interval at which the address of the sign-in page is requested. */
const pollIntervalMs = 100;
const maxPolls = 100;
const maxPortAttempts = 50;
/** Name of the engine's question whether the browser runs on the same computer. */
const localBrowserQuestion = 'config_is_local';

/** Step whose reason of a failure is made for each reader. */
type SetupStep = Exclude<RemoteStep, { readonly step: 'failed' }> | { readonly step: 'failed'; readonly error: Text };

interface Setup {
  readonly type: string;
  state: string;
  step: SetupStep;
  /** True after a sign-in in a browser, which proves that the remote works. */
  isSignedIn: boolean;
  signingIn: AbortController | undefined;
  /** True after success or failure: another setup of this name may start. */
  hasEnded: boolean;
}

interface ConfigResponse {
  readonly State?: string;
  readonly Error?: string;
  readonly Option?: Question | null;
}
interface Question {
  readonly Name: string;
  readonly Help: string;
  readonly Type: string;
  readonly DefaultStr?: string;
  readonly Required: boolean;
  readonly IsPassword: boolean;
  readonly Exclusive: boolean;
  readonly Examples?: readonly { readonly Value: string; readonly Help: string }[] | null;
}

/**
 * Sets up remotes with the questions of `rclone config`, one after another: many providers need more than the form, and some
 * need a sign-in in a browser.
 */
export class RemoteSetups {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #setups = new Map<string, Setup>();

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Starts the setup of a remote.
   * @throws Problem `sync.remote` (422), after which the remote does not exist; `sync.exists` (409) during another setup.
   */
  async begin(name: string, type: string, parameters: Readonly<Record<string, string>>): Promise<RemoteStep> {
    if (this.isOpen(name)) {
      const detail = m.remoteSetupRuns();
      throw new Problem('sync.exists', 409, detail, { fields: { name: detail } });
    }
    const setup: Setup = {
      type,
      state: '',
      step: { step: 'done' },
      isSignedIn: false,
      signingIn: undefined,
      hasEnded: false,
    };
    this.#setups.set(name, setup);
    try {
      const opt = { obscure: true, nonInteractive: true };
      let response: ConfigResponse = await this.#callEngine('config/create', { name, type, parameters, opt });
      // A token in the parameters means that the user signed in elsewhere.
      while ((parameters['token'] ?? '') !== '' && response.Option?.Name === 'config_refresh_token') {
        setup.isSignedIn = true;
        response = await this.#continue(name, response.State ?? '', 'false');
      }
      return await this.#advance(name, setup, response);
    } catch (error) {
      await this.remove(name);
      throw error;
    }
  }

  /** Returns true while the setup of a remote is unfinished. */
  isOpen(name: string): boolean {
    const setup = this.#setups.get(name);
    return setup !== undefined && !setup.hasEnded;
  }

  /** Returns the current step. @throws Problem `sync.no_setup` (404). */
  step(name: string): RemoteStep {
    return readTexts(this.#getSetup(name).step);
  }

  /**
   * Answers the current question.
   * @throws Problem `sync.no_setup` (404), `sync.busy` (409), `sync.remote` (422); the question remains unanswered.
   */
  async answer(name: string, text: string): Promise<RemoteStep> {
    const setup = this.#getSetup(name);
    if (setup.step.step !== 'question') throw new Problem('sync.no_setup', 409, m.noQuestion());
    if (setup.step.question.name === localBrowserQuestion && text === 'true') return await this.#signIn(name, setup);
    if (setup.step.question.name === 'config_token') setup.isSignedIn = true;
    return await this.#advance(name, setup, await this.#continue(name, setup.state, text));
  }

  /** Cancels a setup and removes the remote. @throws Problem `sync.no_setup` (409) if the setup has ended. */
  async cancel(name: string): Promise<void> {
    if (!this.isOpen(name)) throw new Problem('sync.no_setup', 409, m.setupEnded());
    await this.remove(name);
  }

  /** Removes a remote and cancels its setup if there is one. */
  async remove(name: string): Promise<void> {
    const setup = this.#setups.get(name);
    this.#setups.delete(name);
    setup?.signingIn?.abort(new Problem('sync.canceled', 409, m.setupCanceled));
    if (setup?.signingIn !== undefined) await this.#engine.call('config/oauthstop', {});
    await this.#callEngine('config/delete', { name });
    await clearRemoteCache((path, input) => this.#callEngine(path, input));
  }

  #getSetup(name: string): Setup {
    const setup = this.#setups.get(name);
    if (setup === undefined) throw new Problem('sync.no_setup', 404, m.setupNotFound());
    return setup;
  }

  /** Starts the browser sign-in and returns the address of the provider's page. */
  async #signIn(name: string, setup: Setup): Promise<RemoteStep> {
    // The engine supports one sign-in at a time.
    if ([...this.#setups.values()].some(({ signingIn }) => signingIn !== undefined)) {
      throw new Problem('sync.busy', 409, m.otherSignInRuns());
    }
    const controller = new AbortController();
    setup.signingIn = controller;
    const timeout = this.#clock.after(signInTimeoutMs, () => {
      controller.abort(new Problem('sync.remote', 422, m.signInTimedOut));
      this.#stopSignIn();
    });
    const ended = this.#openSignIn(name, setup, controller.signal)
      .then((response) => {
        setup.isSignedIn = true;
        return this.#advance(name, setup, response);
      })
      .catch(async (error: unknown) => {
        if (this.#setups.get(name) !== setup) return;
        // The setup is unchanged, so the same answer can be sent again.
        if (error instanceof Problem && error.code === 'sync.busy') throw error;
        // The reason remains visible during and after the removal. Each reader gets it in their language.
        setup.step = { step: 'failed', error: error instanceof Problem ? error.text : m.setupFailed };
        setup.hasEnded = true;
        // A remote that could not be removed is listed and can be removed there.
        await this.#callEngine('config/delete', { name }).catch(() => undefined);
      })
      .finally(() => {
        timeout[Symbol.dispose]();
        setup.signingIn = undefined;
      });
    let isSignInOver = false;
    const onSignInOver = (): void => void (isSignInOver = true);
    ended.then(onSignInOver, onSignInOver);
    for (let poll = 0; poll < maxPolls && !isSignInOver; poll++) {
      const { status, body } = await this.#engine.call('config/oauthstatus', {});
      if (status === 200 && typeof body['authUrl'] === 'string' && body['authUrl'] !== '') {
        const step: RemoteStep = { step: 'browser', address: body['authUrl'] };
        setup.step = step;
        return step;
      }
      await this.#waitForPoll();
    }
    await ended;
    return readTexts(setup.step);
  }

  /**
   * Starts the sign-in and retries while another program or connection uses the engine's port.
   * @throws Problem `sync.busy` (409)
   */
  async #openSignIn(name: string, setup: Setup, signal: AbortSignal): Promise<ConfigResponse> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#continue(name, setup.state, 'true', signal);
      } catch (error) {
        if (!(error instanceof Problem && findRcloneFailure(getRcloneMessage(error)) === 'sign_in_port_in_use'))
          throw error;
        if (attempt === maxPortAttempts) throw new Problem('sync.busy', 409, m.signInPortInUse());
      }
      await this.#waitForPoll();
      signal.throwIfAborted();
    }
  }

  #waitForPoll(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(pollIntervalMs, resolve));
  }

  async #advance(
    name: string,
    setup: Setup,
    { State: state = '', Option: option, Error: error = '' }: ConfigResponse,
  ): Promise<RemoteStep> {
    setup.state = state;
    if (state !== '' && option !== undefined && option !== null) {
      const step: RemoteStep = { step: 'question', question: toQuestion(option, error) };
      setup.step = step;
      return step;
    }
    try {
      if (error !== '') throw createRcloneProblem(error);
      // The values of the form have not been checked yet.
      if (!setup.isSignedIn) await checkRemote((path, input) => this.#callEngine(path, input), `${name}:`);
    } catch (cause) {
      await this.remove(name);
      throw cause;
    }
    const step: RemoteStep = { step: 'done' };
    setup.step = step;
    setup.hasEnded = true;
    return step;
  }

  /** Stops the engine's sign-in server. Errors are ignored because a stopped engine has none. */
  #stopSignIn(): void {
    this.#engine.call('config/oauthstop', {}).catch(() => undefined);
  }

  async #continue(name: string, state: string, result: string, signal?: AbortSignal): Promise<ConfigResponse> {
    const opt = { obscure: true, nonInteractive: true, continue: true, state, result };
    // Homeport's page opens the sign-in, because the user may use another computer.
    const parameters = { config_auth_no_browser: 'true' };
    return await this.#callEngine('config/update', { name, parameters, opt }, signal);
  }

  async #callEngine(
    path: string,
    input: object,
    signal?: AbortSignal,
  ): Promise<EngineResponse['body'] & ConfigResponse> {
    const { status, body } = await this.#engine.call(path, input, signal === undefined ? {} : { signal });
    if (status === 200) return body;
    throw createRcloneProblem(getErrorMessage(body));
  }
}

function toQuestion(option: Question, error: string): RemoteQuestion {
  const { Name: name, Help: help, Required: required, DefaultStr: fallback = '', Examples: examples } = option;
  const choices = (examples ?? []).map(({ Value, Help }) => ({ value: Value, help: Help }));
  return {
    name,
    help,
    required,
    default: option.IsPassword ? '' : fallback,
    kind: getQuestionKind(option, choices.length),
    choices,
    error,
  };
}

function getQuestionKind({ IsPassword, Type, Exclusive }: Question, choices: number): RemoteQuestion['kind'] {
  if (IsPassword) return 'secret';
  if (Type === 'bool') return 'switch';
  return Exclusive && choices > 0 ? 'choice' : 'text';
}
