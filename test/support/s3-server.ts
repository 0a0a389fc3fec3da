import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { S3Settings } from '../../main/host/blobs/s3-settings.ts';
import { freePort } from './free-port.ts';
import { needs } from './requirements.ts';
import { toolPath } from './tools.ts';

needs('versitygw');

const accessKey = 'homeport-test';
const secretKey = 'a-secret-of-the-store';

/** Running S3 server with an empty bucket. */
export interface S3Server extends AsyncDisposable {
  readonly settings: S3Settings;
  /** Settings of a host that stores its blobs in the bucket. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folder of the bucket, with one file for each object. */
  readonly folder: string;
  /** Stops the process without closing its connections, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Starts the Versity S3 gateway on a temporary folder. */
export async function startS3(): Promise<S3Server> {
  const root = mkdtempSync(join(tmpdir(), 's3-'));
  const [data, sidecar] = [join(root, 'data'), join(root, 'attributes')];
  const folder = join(data, 'blobs');
  for (const each of [folder, sidecar]) mkdirSync(each, { recursive: true });
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${String(port)}`;
  const child = spawn(
    toolPath('versitygw'),
    ['--port', `127.0.0.1:${String(port)}`, 'posix', '--sidecar', sidecar, data],
    {
      env: { PATH: process.env['PATH'], HOME: root, ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'exit');
  await vi.waitFor(() => fetch(endpoint), { timeout: 20_000, interval: 50 });
  const settings: S3Settings = {
    endpoint,
    bucket: 'blobs',
    region: 'us-east-1',
    accessKey,
    secretKey,
    prefix: '',
    pathStyle: true,
    directDownloads: false,
    timeoutSeconds: 2,
  };
  return {
    settings,
    folder,
    environment: {
      HOMEPORT_S3_ENDPOINT: endpoint,
      HOMEPORT_S3_BUCKET: settings.bucket,
      HOMEPORT_S3_ACCESS_KEY: accessKey,
      HOMEPORT_S3_SECRET_KEY: secretKey,
      HOMEPORT_S3_TIMEOUT: String(settings.timeoutSeconds),
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}
