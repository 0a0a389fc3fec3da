import * as m from '#messages/sync-problems';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { FileReply, StreamReply } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { findTypeByName } from '../../kit/file-type.ts';
import type { Access, Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import { calls } from '../access/calls.ts';
import type { Engine } from '../engine/engine.ts';
import { requireLocation, requireSplitLocation } from './file-location.ts';
import { getBody } from './file-problem.ts';
import { buildUploadBody } from './upload-body.ts';

/** Types that the pages show; others are only saved. Markup could run scripts. */
const shownTypes = /^(?:audio\/|video\/|image\/(?:jpeg|png|apng|gif|webp|avif)$)/;
const textTypes = /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|x-sh)$)/;
const binaryType = 'application/octet-stream';

/** Storage of a remote in bytes; null where it does not say. */
export interface RemoteStorage {
  readonly used: number | null;
  readonly total: number | null;
  readonly free: number | null;
  readonly hasPublicLinks: boolean;
}

/** Reads and changes single files and folders of this computer and of remotes. */
export class Files {
  readonly #access: Access;
  readonly #engine: Engine;

  constructor({ access, engine }: { readonly access: Access; readonly engine: Engine }) {
    this.#access = access;
    this.#engine = engine;
  }

  /** Returns whether an account may change the content of a folder. */
  async canWrite(caller: Caller, location: string): Promise<boolean> {
    try {
      await this.#access.checkLocation(caller, location, 'write');
      return true;
    } catch (error) {
      if (error instanceof CallError) return false;
      throw error;
    }
  }

  /** @throws CallError, Problem 409 if the folder exists. */
  async createFolder(caller: Caller, at: string, name: string): Promise<void> {
    requireLocation(at);
    const path = 'operations/mkdir';
    const input = await this.#access.check(caller, path, calls[path] ?? {}, { fs: at, remote: name });
    await this.#refuseExisting(String(input['fs']), name);
    getBody(await this.#engine.call(path, input), at);
  }

  /**
   * Stores a stream as a file. The file gets its name only once the whole content has arrived, because the engine also
   * stores the beginning of an upload that was cut off.
   * @throws CallError, Problem 409 if the file exists and is not to be replaced, 400 for an incomplete upload.
   */
  async upload(
    caller: Caller,
    { at, name, replace }: { readonly at: string; readonly name: string; readonly replace: boolean },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    requireLocation(at);
    const temporaryName = `.upload-${randomUUID()}.partial`;
    const move = 'operations/movefile';
    // Some remotes store no times: a file of the same size would count as unchanged.
    const _config = { IgnoreTimes: true };
    const input = { srcFs: at, srcRemote: temporaryName, dstFs: at, dstRemote: name, _config };
    const checked = await this.#access.check(caller, move, calls[move] ?? {}, input);
    const fs = String(checked['dstFs']);
    if (!replace) await this.#refuseExisting(fs, name);
    try {
      await this.#store(fs, temporaryName, content, at);
      getBody(await this.#engine.call(move, checked), at);
    } catch (error) {
      await this.#engine.call('operations/deletefile', { fs, remote: temporaryName }).catch(() => undefined);
      throw error;
    }
  }

  /** @throws Problem, also for content that is cut off. */
  async #store(fs: string, name: string, content: AsyncIterable<Uint8Array>, at: string): Promise<void> {
    const { body, headers, isComplete } = buildUploadBody(content, name);
    const query = `?${new URLSearchParams({ fs, remote: '' }).toString()}`;
    getBody(await this.#engine.call('operations/uploadfile', {}, { stream: { body, headers, query } }), at);
    if (!isComplete()) throw new Problem('sync.upload_incomplete', 400, m.uploadIncomplete());
  }

  /** Returns a reply with the content of a file. @throws CallError, Problem 404 */
  async read(caller: Caller, path: string, isSaved: boolean): Promise<FileReply | StreamReply> {
    requireLocation(path);
    const { name } = requireSplitLocation(path);
    const checked = await this.#access.checkLocation(caller, path, 'read');
    const options = { type: await getShownType(name), saveAs: isSaved ? name : undefined };
    if (requireLocation(checked).kind === 'local') {
      const isFile = await stat(checked).then(
        (stats) => stats.isFile(),
        () => false,
      );
      if (!isFile) throw new Problem('sync.no_file', 404, m.fileNotFound());
      return new FileReply({ path: checked, ...options });
    }
    return new StreamReply({ ...options, open: (range) => this.#openRemote(checked, range) });
  }

  /** @throws CallError, Problem */
  async createPublicLink(path: string): Promise<string> {
    const { folder, name } = requireSplitLocation(path);
    const { url } = getBody(await this.#engine.call('operations/publiclink', { fs: folder, remote: name }), path);
    if (typeof url !== 'string') throw new Problem('sync.no_link', 502, m.noPublicLink);
    return url;
  }

  /** Returns nulls for a remote that does not answer: its listing shows why. @throws CallError 400 */
  async getStorage(remote: string): Promise<RemoteStorage> {
    const fs = `${remote}:`;
    requireLocation(fs);
    const { body: info } = await this.#engine.call('operations/fsinfo', { fs });
    const features = info['Features'] as Readonly<Record<string, unknown>> | undefined;
    const has = (name: string): boolean => features?.[name] === true;
    const usage = has('About') ? (await this.#engine.call('operations/about', { fs })).body : {};
    const get = (name: string): number | null => (typeof usage[name] === 'number' ? usage[name] : null);
    return { used: get('used'), total: get('total'), free: get('free'), hasPublicLinks: has('PublicLink') };
  }

  async #openRemote(path: string, range: string | undefined): ReturnType<StreamReply['open']> {
    const [, remote = '', file = ''] = /^([^:]+:)(.*)$/s.exec(path) ?? [];
    const { status, headers, body } = await this.#engine.readFile(remote, file, range);
    if (status !== 200 && status !== 206 && status !== 416) {
      body.resume();
      throw new Problem('sync.no_file', status === 404 ? 404 : 502, m.fileNotFound);
    }
    const names = ['content-length', 'content-range', 'accept-ranges', 'last-modified'] as const;
    const passed = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
    return { status, headers: Object.fromEntries(passed), body };
  }

  /** @throws Problem 409 */
  async #refuseExisting(folder: string, name: string): Promise<void> {
    const { item } = getBody(await this.#engine.call('operations/stat', { fs: folder, remote: name }), folder);
    if (item === null || item === undefined) return;
    throw new Problem('sync.file_exists', 409, m.namesExist({ count: 1, names: name }));
  }
}

async function getShownType(name: string): Promise<string> {
  const type = (await findTypeByName(name)) ?? '';
  if (shownTypes.test(type)) return type;
  return textTypes.test(type) ? 'text/plain; charset=utf-8' : binaryType;
}
