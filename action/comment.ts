import { createHash } from 'node:crypto';
import { RequestError } from '@octokit/request-error';
import { type GitHub, limitSec } from './github.client.js';

/** GitHub takes 65,536 letters. */
export const LONGEST_COMMENT = 64_000;
const PAGE = 100;
const TRIES = 3;
const WORKFLOW_LOGIN = 'github-actions[bot]';

export interface PullRequest {
  /** `owner/name`. */
  repository: string;
  number: number;
}

/** Not seen by readers. Whatever the key is made of, nothing of it can end the HTML comment. */
const markerOf = (key: string): string =>
  `<!-- everdict ${createHash('sha256').update(key).digest('hex').slice(0, 32)} -->`;

/** Puts the text into the one comment of this key and of this author: edits it if there is one, else makes it. */
export async function putComment(github: GitHub, pull: PullRequest, key: string, text: string): Promise<string> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await writeComment(github, pull, markerOf(key), text);
    } catch (error) {
      // It may be there all the same, so that it is looked for again.
      if (tried === TRIES || !(error instanceof RequestError) || error.status < 500) throw error;
    }
  }
}

async function writeComment(github: GitHub, pull: PullRequest, marker: string, text: string): Promise<string> {
  const [owner = '', repo = ''] = pull.repository.split('/');
  const body = `${marker}\n${text}`;
  const issue = { owner, repo, issue_number: pull.number };
  const id = await findComment(github, issue, marker);
  if (id !== undefined) {
    const edit = { owner, repo, comment_id: id, body };
    return (await github.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', edit)).data.html_url;
  }
  const create = { ...issue, body, request: { retries: 0 } };
  return (await github.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', create)).data.html_url;
}

/** The token may be able to edit what others wrote, so that the marker alone is no sign that a comment is ours. */
async function findComment(
  github: GitHub,
  issue: { owner: string; repo: string; issue_number: number },
  marker: string,
): Promise<number | bigint | undefined> {
  const login = await ownLogin(github);
  const pages = github.paginate.iterator('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...issue,
    per_page: PAGE,
  });
  for await (const { data } of pages) {
    const own = data.find(({ user, body }) => user?.login === login && body?.startsWith(marker));
    if (own) return own.id;
  }
  return undefined;
}

/** Who the token is; the one of a workflow may not ask for that by REST. */
async function ownLogin(github: GitHub): Promise<string> {
  try {
    const { viewer } = await github.graphql<{ viewer: { login: string } }>('query { viewer { login } }');
    return viewer.login;
  } catch {
    return WORKFLOW_LOGIN;
  }
}

/** Why there is no comment, for whoever set the workflow up. */
export function whyNoComment(error: unknown): string {
  if (!(error instanceof RequestError)) return error instanceof Error ? error.message : String(error);
  const limit = limitSec(error);
  if (limit !== undefined) {
    return `GitHub takes no more calls of this token for ${limit} s (${error.status}), and the step waits no longer: run the job again then`;
  }
  if (error.status === 401) return 'GitHub does not know the token (401): see the input github-token';
  if (error.status === 403 || error.status === 404) {
    return `the token may not comment here (${error.status}): give the job \`permissions: pull-requests: write\`; the token of a pull request from a fork never may`;
  }
  return `GitHub answered ${error.status}`;
}
