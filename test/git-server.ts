import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

export interface GitServer {
  /** `host:port`. */
  host: string;
  url: string;
  /** What each request sent as `Authorization`. */
  asked: (string | undefined)[];
  close(): Promise<void>;
}

/** Makes a repository with one commit that holds `answer.txt`. */
export function makeRepository(dir: string, answer: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', '-C', dir, ...args]);
  execFileSync('git', ['init', '-q', '-b', 'main', dir]);
  execFileSync('/bin/sh', ['-c', 'printf %s "$1" >"$2"', 'sh', answer, join(dir, 'answer.txt')]);
  git('add', '.');
  git('commit', '-qm', 'first');
}

/** Serves the repositories below a directory by git's own server, to whoever sends this user and password. */
export async function startGitServer(root: string, user: string, password: string): Promise<GitServer> {
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    if (request.headers.authorization === wanted) return serve(root, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('no port');
  const host = `127.0.0.1:${address.port}`;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { host, url: `http://${host}`, asked, close };
}

function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://git');
  const cgi = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(cgi.stdin);
  const chunks: Buffer[] = [];
  cgi.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  cgi.once('close', () => {
    const reply = Buffer.concat(chunks);
    const end = reply.indexOf('\r\n\r\n');
    const headers = reply.subarray(0, end).toString().split('\r\n');
    const pairs = headers.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
    const status = pairs.find(([name]) => name.toLowerCase() === 'status')?.[1];
    response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(pairs));
    response.end(reply.subarray(end + 4));
  });
}
