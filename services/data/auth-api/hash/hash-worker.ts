import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcryptjs';

export type HashRequest =
  | { readonly id: number; readonly kind: 'hash'; readonly password: string; readonly cost: number }
  | { readonly id: number; readonly kind: 'verify'; readonly password: string; readonly hash: string };
export interface HashResult {
  readonly id: number;
  readonly result: string | boolean;
}

parentPort?.on('message', (request: HashRequest) => {
  const { id, password } = request;
  const result =
    request.kind === 'hash' ? bcrypt.hashSync(password, request.cost) : bcrypt.compareSync(password, request.hash);
  parentPort?.postMessage({ id, result } satisfies HashResult);
});
