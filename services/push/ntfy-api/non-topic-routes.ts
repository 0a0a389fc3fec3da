import type { Exchange } from './exchange.ts';
import { fileOf, serveFile, type FileParts } from './files.ts';
import { matrixPath, serveMatrix, type MatrixParts } from './matrix.ts';

/** Answers a request whose path is no topic's. */
export type OtherRoute = (exchange: Exchange) => Promise<void>;

/** What answers a path that is no topic's: files and the Matrix gateway; undefined for any other path. */
export function otherRoutes(parts: FileParts & MatrixParts): (method: string, path: string) => OtherRoute | undefined {
  return (method, path) => {
    if (path === matrixPath) return (exchange) => serveMatrix(exchange, parts);
    const id = method === 'GET' || method === 'HEAD' ? fileOf(path) : undefined;
    return id === undefined ? undefined : (exchange) => serveFile(exchange, id, parts);
  };
}
