# What Everdict needs of a Nomad cluster, and no more:
#   nomad acl policy apply everdict everdict.policy.hcl
#   nomad acl token create -name=everdict -type=client -policy=everdict
# The Secret ID is the value of the secret that a runtime names as `authSecret`.

namespace "evals" {
  capabilities = [
    "submit-job", # register and deregister jobs; it never purges one
    "read-job",   # jobs, their evaluations and allocations
    "list-jobs",  # leftovers of attempts that nobody owns any more
    "read-logs",  # what a case prints, its result among it
    "read-fs",    # whether that is all of it: the sizes of the log files
  ]
}

# What nodes there are, and what they have. Jobs run without it.
node {
  policy = "read"
}

# The version, which says how a lost allocation is kept from being started again. Jobs run without it.
agent {
  policy = "read"
}
