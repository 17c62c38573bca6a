/** Routes that are no tool, by method and path, and why. Every other route is one. */
export const WITHOUT_TOOL: Readonly<Record<string, string>> = {
  'get /.well-known/oauth-protected-resource': 'for clients that have no token yet',
  'get /.well-known/oauth-protected-resource/mcp': 'for clients that have no token yet',
  'get /datasets/{id}/versions/{version}/cases.jsonl': 'a download; list_dataset_cases gives the same page by page',
  'get /docs': 'a page for people',
  'get /healthz': 'for whoever runs the process',
  'get /metrics': 'for a Prometheus server',
  'get /openapi.json': 'describes the HTTP API; the list of tools describes this one',
  'get /readyz': 'for whoever runs the process',
  'get /scorecards/{id}/events': 'a stream; get_scorecard and list_cases give its state',
  'post /keys': 'its answer holds a new key, which does not belong into the context of a model',
  'post /mcp': 'the endpoint of the tools',
  'put /retention': 'deletes what is too old in a whole workspace, logs for good, which is for people to decide',
  'put /secrets/{name}': 'takes the value of a secret, which does not belong into the context of a model',
};
