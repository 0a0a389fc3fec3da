import * as t from '#messages/downloads-texts';
import { runInEnglish } from '../../kit/language.ts';
import * as m from '#messages/downloads-problems';
import type { Engine } from '../../contracts/control/engines.ts';
import type { Health, ServiceWork, ServiceAction } from '../../contracts/health.ts';
import type { Context } from '../../contracts/service.ts';
import { EngineInstallations } from './engine-installations.ts';
import { type JavaScriptRuntime } from './javascript-runtime.ts';
import { findEngineProblem } from './version-check.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

const retryIntervalMs = 15_000;
const enginesAction: ServiceAction = {
  label: t.viewEngines,
  to: '/settings/engines',
  adminOnly: true,
};

/**
 * Monitors whether the extractor is installed and new enough. Checks again while it is missing, and logs the remedy
 * once.
 */
export class EngineMonitor implements Disposable {
  readonly #context: Context;
  readonly #javaScript: JavaScriptRuntime;
  readonly #installations: EngineInstallations;
  #ytDlp: Engine | undefined;
  #ffmpeg: Engine | undefined;
  #javaScriptVersion: string | null | undefined;
  #timer: Disposable | undefined;
  readonly #checking = new SingleFlight(() => this.#check());
  #isClosed = false;
  #onAvailable: () => void = () => undefined;

  constructor(context: Context, javaScript: JavaScriptRuntime) {
    this.#context = context;
    this.#javaScript = javaScript;
    this.#installations = new EngineInstallations(context, ['yt-dlp', 'ffmpeg', 'deno'], async () => {
      // An earlier check may not have seen the result.
      await this.#checking.runAgain();
    });
  }

  /** Starts to track installations. `onAvailable` is called when the extractor can be used again. */
  start(onAvailable: () => void): void {
    this.#onAvailable = onAvailable;
    this.#installations.start();
  }

  /** The problem of the extractor and the remedy; undefined while it can be used or was not checked. */
  get missing(): string | undefined {
    const problem = this.#ytDlp && findEngineProblem(this.#ytDlp);
    if (problem === undefined || !this.#installations.has('yt-dlp')) return problem;
    return m.ytDlpInstalling();
  }

  /** Name and version of the JavaScript runtime; null without one, undefined before the first check. */
  get js(): string | null | undefined {
    return this.#javaScriptVersion;
  }

  /** All problems for the user; undefined without problems. */
  get problems(): string | undefined {
    const all = [
      this.missing ?? this.#ffmpegProblem,
      this.#javaScriptVersion === null ? m.noJavaScriptRuntime() : undefined,
    ];
    return all.filter((each) => each !== undefined).join(' ') || undefined;
  }

  /** Running installations, as Home shows them. */
  get running(): readonly ServiceWork[] {
    return this.#installations.running;
  }

  /** State and remedy for the user; undefined when everything works. */
  get health(): Pick<Health, 'state' | 'detail' | 'remedy'> | undefined {
    const [extractor, ffmpeg] = [this.#ytDlp, this.#ffmpeg];
    if (extractor !== undefined && this.missing !== undefined) {
      if (this.#installations.has('yt-dlp')) return { state: 'up', detail: t.ytDlpInstalling };
      const { path, problem = '', mend = enginesAction } = extractor;
      if (path !== null)
        return { state: 'degraded', detail: () => findEngineProblem(extractor) ?? '', remedy: enginesAction };
      const detail =
        problem === '' ? t.ytDlpRequired : () => t.ytDlpRequiredWithProblem({ problem: extractor.problem ?? '' });
      return { state: 'degraded', detail, remedy: mend };
    }
    if (ffmpeg?.path !== null || this.#installations.has('ffmpeg')) return undefined;
    const { problem = '', mend = enginesAction } = ffmpeg;
    return {
      state: 'degraded',
      detail: problem === '' ? m.ffmpegMissing : () => m.ffmpegMissingWithRemedy({ remedy: ffmpeg.problem ?? '' }),
      remedy: mend,
    };
  }

  /** Checks in the background. */
  checkInBackground(): void {
    this.check().catch((error: unknown) => this.#context.log.error('engine check failed', { error }));
  }

  /** Checks and waits for the result. */
  async check(): Promise<void> {
    // A request may start a check, whose findings are logged.
    await runInEnglish(() => this.#checking.run());
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    this.#installations[Symbol.dispose]();
  }

  /** Limitations of downloads without ffmpeg, and the remedy; undefined while it is installed. */
  get #ffmpegProblem(): string | undefined {
    if (this.#ffmpeg?.path !== null) return undefined;
    if (this.#installations.has('ffmpeg')) return m.ffmpegInstalling();
    const { remedy } = this.#ffmpeg;
    return m.ffmpegMissingWithRemedy({ remedy: remedy ?? m.installOnEnginesPage() });
  }

  async #check(): Promise<void> {
    const before = this.missing;
    const engine = await this.#context.engines.find('yt-dlp', { refresh: before !== undefined });
    if (this.#isClosed) return;
    this.#ytDlp = engine;
    await this.#checkFfmpeg();
    await this.#checkJavaScript();
    const engineProblem = findEngineProblem(engine);
    this.#timer?.[Symbol.dispose]();
    if (engineProblem === undefined) {
      if (before !== undefined) this.#context.log.info('yt-dlp available', { version: engine.version });
      this.#onAvailable();
      return;
    }
    if (before === undefined) this.#context.log.warn('yt-dlp missing, downloads paused', { reason: this.missing });
    this.#timer = this.#context.clock.after(retryIntervalMs, () => this.checkInBackground());
  }

  /** Downloads continue without ffmpeg, so its absence is only reported. */
  async #checkFfmpeg(): Promise<void> {
    const before = this.#ffmpegProblem;
    const ffmpeg = await this.#context.engines.find('ffmpeg', { refresh: before !== undefined });
    if (this.#isClosed) return;
    this.#ffmpeg = ffmpeg;
    if (before === undefined && this.#ffmpegProblem !== undefined)
      this.#context.log.warn('ffmpeg missing', { reason: this.#ffmpegProblem });
  }

  async #checkJavaScript(): Promise<void> {
    const before = this.#javaScriptVersion;
    this.#javaScriptVersion = await this.#javaScript.find();
    if (before !== null && this.#javaScriptVersion === null)
      this.#context.log.warn('JavaScript runtime missing', { reason: m.noJavaScriptRuntime() });
  }
}
