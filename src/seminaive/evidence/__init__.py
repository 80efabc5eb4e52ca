"""What a fitted model is: a prior, terms and a link; or an average of such sums.

model          what a fitted model must offer
evidence       a prior plus a sum of terms
terms          tables, Gaussians, curves, families
contrast       densities compared, none counting too much
families       many families side by side
mixture        averages of many sums
contributions  scores taken apart into terms
storage        models saved and loaded, nothing executed
stored_values  values as JSON and bytes
known_classes  classes a model file may hold
"""
