import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { RemoteQuestion, RemoteStep } from '../../contracts/sync/remotes.ts';
import { errorOf, type Engine, type EngineAnswer } from './engine.ts';
import { forgetPlaces, tryRemote } from './remote-change.ts';

/** Time limit for the sign-in on a provider's page. */
const signInWithinMs = 15 * 60_000;
/** Interval at which the address of the sign-in page is requested. */
const lookEveryMs = 100;
const looks = 100;
/** The engine's error when it cannot use its fixed port for the browser. */
const portTaken = 'failed to start auth webserver';
const portTakenAttempts = 50;
const portTakenAdvice =
  'rclone needs port 53682 of this computer for signing in, and another program uses it. Close that program, then try again.';
/** Name of the engine's question whether the browser runs on the same computer. */
const browserHere = 'config_is_local';

interface Setup {
  readonly type: string;
  state: string;
  step: RemoteStep;
  /** True after a sign-in in a browser, which proves that the remote works. */
  isSignedIn: boolean;
  signingIn: AbortController | undefined;
  /** True after success or failure: another setup of this name may start. */
  isOver: boolean;
}

interface Asked {
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
  readonly #engine: () => Engine;
  readonly #clock: Clock;
  readonly #open = new Map<string, Setup>();

  constructor(engine: () => Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Starts the setup of a remote.
   * @throws Problem `sync.remote` (422), after which the remote does not exist; `sync.exists` (409) during another setup.
   */
  async begin(name: string, type: string, parameters: Readonly<Record<string, string>>): Promise<RemoteStep> {
    if (this.isOpen(name)) {
      const detail = 'A remote of this name is being set up.';
      throw new Problem('sync.exists', 409, detail, { fields: { name: detail } });
    }
    const setup: Setup = {
      type,
      state: '',
      step: { step: 'done' },
      isSignedIn: false,
      signingIn: undefined,
      isOver: false,
    };
    this.#open.set(name, setup);
    try {
      const opt = { obscure: true, nonInteractive: true };
      let asked: Asked = await this.#ask('config/create', { name, type, parameters, opt });
      // A token in the parameters means that the user signed in elsewhere.
      while ((parameters['token'] ?? '') !== '' && asked.Option?.Name === 'config_refresh_token') {
        setup.isSignedIn = true;
        asked = await this.#continue(name, asked.State ?? '', 'false');
      }
      return await this.#next(name, setup, asked);
    } catch (error) {
      await this.forget(name);
      throw error;
    }
  }

  /** Returns true while the setup of a remote is unfinished. */
  isOpen(name: string): boolean {
    const setup = this.#open.get(name);
    return setup !== undefined && !setup.isOver;
  }

  /** Returns the current step. @throws Problem `sync.no_setup` (404). */
  step(name: string): RemoteStep {
    return this.#find(name).step;
  }

  /**
   * Answers the current question.
   * @throws Problem `sync.no_setup` (404), `sync.busy` (409), `sync.remote` (422); the question remains unanswered.
   */
  async answer(name: string, text: string): Promise<RemoteStep> {
    const setup = this.#find(name);
    if (setup.step.step !== 'question') throw new Problem('sync.no_setup', 409, 'Nothing is asked at the moment.');
    if (setup.step.question.name === browserHere && text === 'true') return await this.#signIn(name, setup);
    if (setup.step.question.name === 'config_token') setup.isSignedIn = true;
    return await this.#next(name, setup, await this.#continue(name, setup.state, text));
  }

  /** Cancels a setup and removes the remote. @throws Problem `sync.no_setup` (409) if the setup has ended. */
  async giveUp(name: string): Promise<void> {
    if (!this.isOpen(name)) throw new Problem('sync.no_setup', 409, 'Its set-up has ended elsewhere meanwhile.');
    await this.forget(name);
  }

  /** Removes a remote and cancels its setup if there is one. */
  async forget(name: string): Promise<void> {
    const setup = this.#open.get(name);
    this.#open.delete(name);
    setup?.signingIn?.abort(new Problem('sync.canceled', 409, 'It was given up.'));
    if (setup?.signingIn !== undefined) await this.#engine().call('config/oauthstop', {});
    await this.#ask('config/delete', { name });
    await forgetPlaces((path, input) => this.#ask(path, input));
  }

  #find(name: string): Setup {
    const setup = this.#open.get(name);
    if (setup === undefined) throw new Problem('sync.no_setup', 404, 'No such remote is being set up.');
    return setup;
  }

  /** Starts the browser sign-in and returns the address of the provider's page. */
  async #signIn(name: string, setup: Setup): Promise<RemoteStep> {
    // The engine supports one sign-in at a time.
    if ([...this.#open.values()].some(({ signingIn }) => signingIn !== undefined)) {
      throw new Problem('sync.busy', 409, 'Another remote is being signed in to.');
    }
    const given = new AbortController();
    setup.signingIn = given;
    const late = this.#clock.after(signInWithinMs, () => {
      given.abort(new Problem('sync.remote', 422, 'Nobody has signed in.'));
      this.#stopSignIn();
    });
    const ended = this.#openSignIn(name, setup, given.signal)
      .then((asked) => {
        setup.isSignedIn = true;
        return this.#next(name, setup, asked);
      })
      .catch(async (error: unknown) => {
        if (this.#open.get(name) !== setup) return;
        // The setup is unchanged, so the same answer can be sent again.
        if (error instanceof Problem && error.code === 'sync.busy') throw error;
        const words = error instanceof Problem ? error.detail : 'an internal error';
        // The reason remains visible during and after the removal.
        setup.step = { step: 'failed', error: words };
        setup.isOver = true;
        // A remote that could not be removed is listed and can be removed there.
        await this.#ask('config/delete', { name }).catch(() => undefined);
      })
      .finally(() => {
        late[Symbol.dispose]();
        setup.signingIn = undefined;
      });
    let isOver = false;
    const over = (): void => void (isOver = true);
    ended.then(over, over);
    for (let at = 0; at < looks && !isOver; at++) {
      const { status, body } = await this.#engine().call('config/oauthstatus', {});
      if (status === 200 && typeof body['authUrl'] === 'string' && body['authUrl'] !== '') {
        setup.step = { step: 'browser', address: body['authUrl'] };
        return setup.step;
      }
      await this.#pause();
    }
    await ended;
    return setup.step;
  }

  /**
   * Starts the sign-in and retries while another program or connection uses the engine's port.
   * @throws Problem `sync.busy` (409)
   */
  async #openSignIn(name: string, setup: Setup, signal: AbortSignal): Promise<Asked> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#continue(name, setup.state, 'true', signal);
      } catch (error) {
        if (!(error instanceof Problem && error.detail.includes(portTaken))) throw error;
        if (attempt === portTakenAttempts) throw new Problem('sync.busy', 409, portTakenAdvice);
      }
      await this.#pause();
      signal.throwIfAborted();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(lookEveryMs, resolve));
  }

  async #next(
    name: string,
    setup: Setup,
    { State: state = '', Option: option, Error: error = '' }: Asked,
  ): Promise<RemoteStep> {
    setup.state = state;
    if (state !== '' && option !== undefined && option !== null) {
      setup.step = { step: 'question', question: questionOf(option, error) };
      return setup.step;
    }
    try {
      if (error !== '') throw failed(error);
      // The values of the form have not been checked yet.
      if (!setup.isSignedIn) await tryRemote((path, input) => this.#ask(path, input), `${name}:`);
    } catch (cause) {
      await this.forget(name);
      throw cause;
    }
    setup.step = { step: 'done' };
    setup.isOver = true;
    return setup.step;
  }

  /** Stops the engine's sign-in server. Errors are ignored because a stopped engine has none. */
  #stopSignIn(): void {
    this.#engine()
      .call('config/oauthstop', {})
      .catch(() => undefined);
  }

  async #continue(name: string, state: string, result: string, signal?: AbortSignal): Promise<Asked> {
    const opt = { obscure: true, nonInteractive: true, continue: true, state, result };
    // Homeport's page opens the sign-in, because the user may use another computer.
    const parameters = { config_auth_no_browser: 'true' };
    return await this.#ask('config/update', { name, parameters, opt }, signal);
  }

  async #ask(path: string, input: object, signal?: AbortSignal): Promise<EngineAnswer['body'] & Asked> {
    const { status, body } = await this.#engine().call(path, input, signal === undefined ? {} : { signal });
    if (status === 200) return body;
    throw failed(errorOf(body));
  }
}

function failed(reason: string): Problem {
  return new Problem('sync.remote', 422, `rclone says: ${reason}.`);
}

function questionOf(option: Question, error: string): RemoteQuestion {
  const { Name: name, Help: help, Required: required, DefaultStr: fallback = '', Examples: examples } = option;
  const choices = (examples ?? []).map(({ Value, Help }) => ({ value: Value, help: Help }));
  return {
    name,
    help,
    required,
    default: option.IsPassword ? '' : fallback,
    kind: kindOf(option, choices.length),
    choices,
    error,
  };
}

function kindOf({ IsPassword, Type, Exclusive }: Question, choices: number): RemoteQuestion['kind'] {
  if (IsPassword) return 'secret';
  if (Type === 'bool') return 'switch';
  return Exclusive && choices > 0 ? 'choice' : 'text';
}
