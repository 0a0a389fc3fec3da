import type { Exchange } from './exchange.ts';
import { findFileId, serveFile, type FileDependencies } from './files.ts';
import { matrixPath, serveMatrix, type MatrixDependencies } from './matrix.ts';

/** Handler of a path that is not a topic. */
export type NonTopicRoute = (exchange: Exchange) => Promise<void>;

/** Returns the handlers of paths that are not topics: files and the Matrix gateway. */
export function createNonTopicRoutes(
  dependencies: FileDependencies & MatrixDependencies,
): (method: string, path: string) => NonTopicRoute | undefined {
  return (method, path) => {
    if (path === matrixPath) return (exchange) => serveMatrix(exchange, dependencies);
    const id = method === 'GET' || method === 'HEAD' ? findFileId(path) : undefined;
    return id === undefined ? undefined : (exchange) => serveFile(exchange, id, dependencies);
  };
}
